// Runs a piece of a test in a forked child, with a deadline: what would hang fails instead.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

#if defined(__SANITIZE_THREAD__)
// Children of programs with threads start threads of their own here; the sanitizer's default is to refuse.
extern "C" inline __attribute__((used, visibility("default"))) const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace xsigma::profiler::test {

inline constexpr int kThrown = 99;

// In the child: body() gives the exit status. The child leaves without running the parent's destructors.
template <typename Body>
pid_t forkChild(Body body, unsigned deadline_s = 60) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(deadline_s);
  int status = kThrown;
  try {
    status = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in the child: %s\n", error.what());
  }
  std::fflush(stderr);
  _exit(status);
}

// The exit status; 128 + the signal if one ended it.
inline int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

template <typename Body>
int runInChild(Body body, unsigned deadline_s = 60) {
  return waitFor(forkChild(body, deadline_s));
}

// Zeroed memory that parent and children share.
template <typename T>
class Shared {
 public:
  Shared() : value_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T()) {}
  ~Shared() { munmap(static_cast<void*>(value_), sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

}  // namespace xsigma::profiler::test
