// Doorbell: wakes the worker. Ringing is a system call without a lock, from any thread, whatever it is inside of.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

namespace xsigma::profiler::backends::cupti {

class Doorbell {
 public:
  // One for the process: a late callback may ring when nobody waits any more.
  static Doorbell& ofProcess() {
    static Doorbell& bell = *new Doorbell;
    return bell;
  }

  void ring() noexcept {
    const int before = errno;
    const uint64_t once = 1;
    [[maybe_unused]] const ssize_t written = write(file_, &once, sizeof once);
    errno = before;
  }
  // Returns when it has rung since the last time, or after this long. Without a file, after this long.
  void wait(std::chrono::milliseconds most) noexcept {
    pollfd one{file_, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(most.count())) <= 0) return;
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t taken = read(file_, &count, sizeof count);
  }

 private:
  Doorbell() : file_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int file_;
};

}  // namespace xsigma::profiler::backends::cupti
