// Watches a program without recording it: callbacks find slow scopes and count calls, on all threads.
#include <xsigma/profiler/profiler.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

using namespace xsigma::profiler;
using Clock = std::chrono::steady_clock;

namespace {

std::atomic<int> calls{0};
std::atomic<int> slow{0};

// What a callback wants to know at the end of a scope.
struct Started : ObserverContext {
  Clock::time_point at = Clock::now();
};

std::unique_ptr<ObserverContext> begin(const RecordFunction&) {
  ++calls;
  return std::make_unique<Started>();
}

void end(const RecordFunction& scope, ObserverContext* context) {
  const std::chrono::duration<double, std::milli> took = Clock::now() - static_cast<Started*>(context)->at;
  if (took.count() < 20) return;
  if (slow++ == 0) std::printf("slow: %s\n", scope.name());
}

void sortNumbers(size_t count) {
  XSIGMA_PROFILE_FUNCTION();
  std::vector<unsigned> numbers;
  for (unsigned n = 1; numbers.size() < count; n = n * 1664525u + 1013904223u) numbers.push_back(n);
  std::sort(numbers.begin(), numbers.end());
}

void waitForDisk() {
  XSIGMA_PROFILE_SCOPE("wait for disk");
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
}

}  // namespace

int main() {
  const CallbackHandle watcher = addGlobalCallback(RecordFunctionCallback(begin, end).scopes({RecordScope::USER_SCOPE}));
  const CallbackHandle counter = addGlobalCallback(RecordFunctionCallback([](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
                                                     ++calls;
                                                     return nullptr;
                                                   }).scopes({RecordScope::FUNCTION}));
  std::thread other([] {
    for (int i = 0; i < 4; ++i) sortNumbers(1000);
  });
  for (int i = 0; i < 5; ++i) sortNumbers(1000);
  waitForDisk();
  other.join();
  removeCallback(watcher);  // from here on it is called no more, on no thread
  removeCallback(counter);
  sortNumbers(1000);  // nobody looks: one load and a branch
  std::printf("%d calls were seen, %d of them slow\n", calls.load(), slow.load());
}
