// OwnThread: a thread of ours that can be waited for until a deadline.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace xsigma::profiler::backends::cupti {

// The function must keep alive what it uses: it may outlast whoever started it.
class OwnThread {
 public:
  // Signals are blocked on it. False: the system gave no thread.
  bool start(std::function<void()> function);
  // Whether the function has returned by then.
  bool waitUntil(std::chrono::steady_clock::time_point deadline);

 private:
  struct Done;
  std::shared_ptr<Done> done_;
};

}  // namespace xsigma::profiler::backends::cupti
