#include "base/quiet_thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace xsigma::profiler::base {
namespace {

// A thread begins with the mask of the one that starts it: one that took signals first, and then no more, could get one in between.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t more;
    sigfillset(&more);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
      sigdelset(&more, fault);  // a fault is reported where it happens
    pthread_sigmask(SIG_BLOCK, &more, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::thread startQuietThread(const char* name, std::function<void()> work) {
  const SignalsBlocked blocked;
  return std::thread([name, work = std::move(work)] {
    pthread_setname_np(pthread_self(), name);
    work();
  });
}

}  // namespace xsigma::profiler::base
