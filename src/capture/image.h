// Image: the bytes of a capture as a reader gets at them, wherever they are.
#pragma once

#include <cstddef>
#include <cstdint>
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
std::shared_ptr<const Image> bytesImage(std::vector<char> bytes);

}  // namespace xsigma::profiler::capture
