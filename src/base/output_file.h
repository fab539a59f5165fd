// OutputFile: a file that is whole or absent. Written under a temporary name, synced and renamed.
#pragma once

#include <string>
#include <string_view>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler::base {

class OutputFile {
 public:
  // `what` names the thing in messages: "the trace". Folders are not created.
  static Expected<OutputFile> create(std::string path, std::string what);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // removes what was not finished

  Status write(std::string_view bytes);
  // Until here the path is as it was before.
  Status finish();

 private:
  OutputFile(std::string path, std::string what);
  Status failed(const char* step);
  void discard() noexcept;

  std::string path_;
  std::string what_;
  std::string temporary_;  // "" for what is no file: a device, a pipe
  std::string target_;     // where the path leads, if it is there already
  int file_ = -1;
};

// All of it at once.
Status writeFile(const std::string& path, const std::string& what, std::string_view bytes);

}  // namespace xsigma::profiler::base
