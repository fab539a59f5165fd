// Work that must not hold up who needs it for long: it is done on a thread of its own, and waited for with a limit.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace xsigma::profiler::base {

// The work must keep alive what it uses: it may outlast whoever started it. That there is no memory for it counts as an end.
class OwnThread {
 public:
  // See startQuietThread. False: the system gave no thread.
  bool start(const char* name, std::function<void()> work);
  // Whether the work is over by then, and what it kept alive is gone. True before start().
  bool waitUntil(std::chrono::steady_clock::time_point deadline);

 private:
  struct Progress;
  std::shared_ptr<Progress> progress_;
};

// Does the work, and waits for it at most so long. True: it is over. False: it goes on by itself. Where the system gives no thread, it is done here.
bool endsWithin(std::chrono::milliseconds most, const char* name, const std::function<void()>& work);

}  // namespace xsigma::profiler::base
