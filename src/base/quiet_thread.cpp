#include "base/quiet_thread.h"

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace xsigma::profiler::base {

Status startQuietThread(const char* name, std::function<void()> work) {
  // A thread has the mask of whoever starts it.
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  Status status;
  try {
    std::thread thread(std::move(work));
    pthread_setname_np(thread.native_handle(), name);
    thread.detach();
  } catch (const std::system_error& error) {
    status = {StatusCode::io_error, std::string("the system gives no thread: ") + error.what()};
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

}  // namespace xsigma::profiler::base
