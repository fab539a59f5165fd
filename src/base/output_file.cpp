#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace xsigma::profiler::base {

OutputFile::OutputFile(std::string path, std::string what) : path_(std::move(path)), what_(std::move(what)) {
  static std::atomic<unsigned> count{0};
  temporary_ = fmt::format("{}.{}.{}.tmp", path_, getpid(), count.fetch_add(1, std::memory_order_relaxed));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      what_(std::move(other.what_)),
      temporary_(std::move(other.temporary_)),
      target_(std::move(other.target_)),
      file_(std::exchange(other.file_, -1)) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (file_ < 0) return;
  close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  file_ = -1;
}

Status OutputFile::failed(const char* step) {
  Status status(StatusCode::io_error,
                fmt::format("cannot save {} as '{}': {}: {}. Choose a folder that exists, can be written to and has room; "
                            "folders are not created",
                            what_, path_, step, std::strerror(errno)));
  discard();
  return status;
}

Expected<OutputFile> OutputFile::create(std::string path, std::string what) {
  OutputFile file(std::move(path), std::move(what));
  if (file.path_.empty()) {
    return Status(StatusCode::invalid_argument, fmt::format("cannot save {}: the path is empty. Name a file", file.what_));
  }
  struct stat about {};
  if (stat(file.path_.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return file.failed("creating it");
  }
  const bool special = stat(file.path_.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
  if (special) file.temporary_.clear();                                                  // a device or a pipe is written to, not replaced
  if (char* const target = special ? nullptr : realpath(file.path_.c_str(), nullptr)) {  // nor is a link: what it leads to is
    if (file.path_ != target) file.temporary_.replace(0, file.path_.size(), target);
    file.target_ = target;
    std::free(target);
  }
  if (special) {
    file.file_ = open(file.path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.file_ < 0) return file.failed("opening it");
    return file;
  }
  file.file_ = open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file.file_ < 0) return file.failed("creating it");
  return file;
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return failed("writing it");
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

Status OutputFile::finish() {
  if (!temporary_.empty()) {
    if (fsync(file_) != 0) return failed("writing it");
    if (rename(temporary_.c_str(), target_.empty() ? path_.c_str() : target_.c_str()) != 0) return failed("naming it");
  }
  close(file_);
  file_ = -1;
  return {};
}

Status writeFile(const std::string& path, const std::string& what, std::string_view bytes) {
  Expected<OutputFile> file = OutputFile::create(path, what);
  if (!file) return file.status();
  if (Status status = file->write(bytes); !status) return status;
  return file->finish();
}

}  // namespace xsigma::profiler::base
