// Threads of ours: they take no signals, and say whose they are.
#include "base/quiet_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <string>

namespace xsigma::profiler::base {
namespace {

bool isBlocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(QuietThread, TakesNoSignalsAndBearsItsName) {
  bool blocked = false;
  std::string name(16, '\0');
  startQuietThread("xsp-quiet", [&] {
    blocked = isBlocked(SIGTERM) && isBlocked(SIGPROF) && isBlocked(SIGUSR1);
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }).join();
  EXPECT_TRUE(blocked);
  EXPECT_STREQ(name.c_str(), "xsp-quiet");
}

TEST(QuietThread, LeavesTheSignalsOfTheThreadThatStartsItAlone) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  startQuietThread("xsp-quiet", [] {}).join();
  EXPECT_TRUE(isBlocked(SIGUSR1));
  EXPECT_FALSE(isBlocked(SIGUSR2));
  EXPECT_FALSE(isBlocked(SIGTERM));
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

}  // namespace
}  // namespace xsigma::profiler::base
