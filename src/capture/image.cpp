#include "capture/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace xsigma::profiler::capture {

Image::~Image() = default;

namespace {

// Other threads may be writing: what is torn is found out by the block's generation, so the sanitizer need not look.
__attribute__((no_sanitize("thread"), noinline)) void copyWhileWritten(char* to, const char* from, size_t bytes) {
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    uint64_t word;
    __builtin_memcpy(&word, from + at, sizeof word);
    __builtin_memcpy(to + at, &word, sizeof word);
  }
  for (; at < bytes; ++at) to[at] = from[at];
}

class MemoryImage : public Image {
 public:
  MemoryImage(std::shared_ptr<const void> owner, const char* base, uint64_t size) : owner_(std::move(owner)), base_(base), size_(size) {}
  uint64_t size() const override { return size_; }
  size_t read(uint64_t offset, void* to, size_t bytes) const override {
    if (offset >= size_) return 0;
    bytes = std::min<uint64_t>(bytes, size_ - offset);
    copyWhileWritten(static_cast<char*>(to), base_ + offset, bytes);
    return bytes;
  }

 private:
  std::shared_ptr<const void> owner_;
  const char* base_;
  uint64_t size_;
};

class FileImage : public Image {
 public:
  explicit FileImage(int file) : file_(file) {}
  ~FileImage() override { close(file_); }
  // As it is now: a live one grows.
  uint64_t size() const override {
    struct stat about {};
    return fstat(file_, &about) == 0 ? static_cast<uint64_t>(about.st_size) : 0;
  }
  size_t read(uint64_t offset, void* to, size_t bytes) const override {
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  int file_;
};

class AwaitedImage : public Image {
 public:
  explicit AwaitedImage(std::shared_future<std::shared_ptr<const Image>> image) : image_(std::move(image)), process_id_(getpid()) {}
  uint64_t size() const override { return mine() ? image_.get()->size() : 0; }
  size_t read(uint64_t offset, void* to, size_t bytes) const override { return mine() ? image_.get()->read(offset, to, bytes) : 0; }

 private:
  bool mine() const { return getpid() == process_id_ || image_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

  std::shared_future<std::shared_ptr<const Image>> image_;
  pid_t process_id_;
};

}  // namespace

Expected<std::shared_ptr<const Image>> openFileImage(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Status(errno == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                  fmt::format("cannot open the capture '{}': {}. Check the path", path, std::strerror(errno)));
  }
  struct stat about {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(file);
    return Status(StatusCode::io_error, fmt::format("cannot read '{}' as a capture: it is not a regular file. Name an .xst file", path));
  }
  return std::shared_ptr<const Image>(std::make_shared<FileImage>(file));
}

std::shared_ptr<const Image> memoryImage(std::shared_ptr<const void> owner, const char* base, uint64_t size) {
  return std::make_shared<MemoryImage>(std::move(owner), base, size);
}

std::shared_ptr<const Image> awaitedImage(std::shared_future<std::shared_ptr<const Image>> image) {
  return std::make_shared<AwaitedImage>(std::move(image));
}

std::shared_ptr<const Image> bytesImage(std::vector<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  const char* const base = owner->data();
  const uint64_t size = owner->size();
  return memoryImage(std::move(owner), base, size);
}

}  // namespace xsigma::profiler::capture
