// Image: the bytes of a capture as a reader gets at them, wherever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::capture {

class Image {
 public:
  virtual ~Image();
  virtual uint64_t size() const = 0;
  // How many of the bytes could be read; fewer only at the end.
  virtual size_t read(uint64_t offset, void* to, size_t bytes) const = 0;
};

Expected<std::shared_ptr<const Image>> openFileImage(const std::string& path);
// Memory that somebody may still be writing to; `owner` keeps it.
std::shared_ptr<const Image> memoryImage(std::shared_ptr<const void> owner, const char* base, uint64_t size);
// One that is not there yet: whoever reads waits. Empty in a forked child, where nobody will make it, unless it was there before the fork.
std::shared_ptr<const Image> awaitedImage(std::shared_future<std::shared_ptr<const Image>> image);
std::shared_ptr<const Image> bytesImage(std::vector<char> bytes);

}  // namespace xsigma::profiler::capture
