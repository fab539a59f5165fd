#include "capture/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "capture/format.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace xsigma::profiler::capture {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kFirstStepBytes = size_t{1} << 20;
constexpr size_t kLargestStepBytes = size_t{64} << 20;
constexpr size_t kMostReserve = size_t{1} << 62;  // more than there is; less than what wraps around

size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

std::string reason() { return std::strerror(errno); }

// True if the file system gave the space; falls back to writing zeros where it cannot reserve.
bool allocateRange(int file, size_t from, size_t to) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && to > limit.rlim_cur) return false;
  int result;
  do {
    result = fallocate(file, 0, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  if (errno != EOPNOTSUPP) return false;
  static constexpr char kZeros[kPageBytes] = {};
  for (size_t at = from; at < to; at += kPageBytes) {
    if (pwrite(file, kZeros, std::min(kPageBytes, to - at), static_cast<off_t>(at)) <= 0) return false;
  }
  return true;
}

}  // namespace

Store::Store(Store&& other) noexcept
    : reservation_(std::exchange(other.reservation_, nullptr)),
      reservation_bytes_(other.reservation_bytes_),
      base_(other.base_),
      reserved_bytes_(other.reserved_bytes_),
      backed_bytes_(other.backed_bytes_),
      file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      temporary_path_(std::exchange(other.temporary_path_, {})) {}

Store::~Store() {
  if (reservation_ != nullptr) munmap(reservation_, reservation_bytes_);
  if (file_ >= 0) close(file_);
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

Expected<Store> Store::create(const std::string& path, size_t reserve_bytes) {
  Store store;
  store.reserved_bytes_ = roundUp(std::min(reserve_bytes, kMostReserve), kPageBytes);
  store.reservation_bytes_ = store.reserved_bytes_ + kHugePageBytes;
  void* const range =
      mmap(nullptr, store.reservation_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    return Status(StatusCode::io_error,
                  fmt::format("cannot reserve {} bytes of address space for a capture: {}. Ask for a smaller byte_cap, or raise the "
                              "limit (ulimit -v)",
                              store.reservation_bytes_, reason()));
  }
  store.reservation_ = static_cast<char*>(range);
  store.base_ = reinterpret_cast<char*>(roundUp(reinterpret_cast<size_t>(range), kHugePageBytes));

  if (path.empty()) {
    store.backed_bytes_ = store.reserved_bytes_;
  } else {
    store.path_ = path;
    static constinit std::atomic<uint32_t> made{0};
    std::string temporary = fmt::format("{}.{}.{}.tmp", path, getpid(), made.fetch_add(1));
    struct stat existing{};
    if (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
      return Status(StatusCode::io_error, fmt::format("cannot record to '{}': it is there and is not a regular file. Name a file", path));
    }
    store.file_ = open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (store.file_ < 0) {
      return Status(StatusCode::io_error, fmt::format("cannot create the capture file '{}': {}. Choose a folder that exists and can be "
                                                      "written to; folders are not created",
                                                      path, reason()));
    }
    store.temporary_path_ = std::move(temporary);
    flock(store.file_, LOCK_EX | LOCK_NB);
    if (!store.back(kPageBytes)) {
      return Status(StatusCode::io_error,
                    fmt::format("cannot get disk space for the capture file '{}': {}. Free some space, or record elsewhere", path,
                                errno == 0 ? "file-size limit" : reason()));
    }
    if (mmap(store.base_, store.reserved_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, store.file_, 0) == MAP_FAILED) {
      return Status(StatusCode::io_error, fmt::format("cannot map the capture file '{}': {}. Record to a local file system", path, reason()));
    }
  }
  madvise(store.base_, store.reserved_bytes_, MADV_HUGEPAGE);
  madvise(store.base_, store.reserved_bytes_, MADV_DONTDUMP);
  return store;
}

Status Store::publish() {
  if (temporary_path_.empty()) return {};
  const int holder = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (holder >= 0) {
    const bool held = flock(holder, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(holder);
    if (held) {
      return {StatusCode::busy, fmt::format("'{}' is being recorded to already. Name another file", path_)};
    }
  }
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return {StatusCode::io_error, fmt::format("cannot name the capture file '{}': {}", path_, reason())};
  }
  temporary_path_.clear();
  return {};
}

bool Store::back(size_t bytes) noexcept {
  if (bytes <= backed_bytes_) return true;
  if (bytes > reserved_bytes_) return false;
  // Ahead of need in steps that double; when space is short, as little as will do.
  errno = 0;
  const size_t step = std::clamp(backed_bytes_, kFirstStepBytes, kLargestStepBytes);
  const size_t wanted = std::min(roundUp(bytes, step), reserved_bytes_);
  for (const size_t target : {wanted, std::min(roundUp(bytes, kFirstStepBytes), reserved_bytes_), bytes}) {
    if (allocateRange(file_, backed_bytes_, target)) {
      backed_bytes_ = target;
      return true;
    }
  }
  return false;
}

void Store::populate(size_t offset, size_t bytes) noexcept {
  const size_t end = std::min(offset + bytes, backed_bytes_);
  if (offset < end) madvise(base_ + offset, end - offset, MADV_POPULATE_WRITE);
}

void Store::trim(size_t bytes) noexcept {
  if (file_ >= 0) flock(file_, LOCK_UN);  // finished: somebody may record to this name again
  if (file_ < 0 || bytes >= backed_bytes_) return;
  if (ftruncate(file_, static_cast<off_t>(bytes)) == 0) backed_bytes_ = bytes;
}

}  // namespace xsigma::profiler::capture
