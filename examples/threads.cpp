// Two workers take numbers from a queue: who works, who waits? Usage: threads [TRACE]
#include <xsigma/profiler/profiler.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <thread>

using namespace xsigma::profiler;

namespace {

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::queue<uint64_t> numbers;

  void push(uint64_t number) {
    const std::lock_guard lock(mutex);
    numbers.push(number);
    recordCounter("queued", static_cast<double>(numbers.size()));
    changed.notify_one();
  }
  uint64_t pop() {
    XSIGMA_PROFILE_SCOPE("wait for work");
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !numbers.empty(); });
    const uint64_t number = numbers.front();
    numbers.pop();
    return number;
  }
};

// How many steps a thousand numbers take to reach 1 by halving, or tripling and adding 1.
uint64_t countSteps(uint64_t from) {
  XSIGMA_PROFILE_FUNCTION();
  uint64_t steps = 0;
  for (uint64_t start = from; start < from + 1000; ++start) {
    for (uint64_t n = start; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  }
  return steps;
}

void work(Queue& queue, const char* name, uint64_t& steps) {
  setThreadName(name);
  while (const uint64_t from = queue.pop()) steps += countSteps(from);  // 0: no more
}

}  // namespace

int main(int argc, char** argv) try {
  ProfilerGuard guard(argc > 1 ? argv[1] : "threads.json");  // all threads; saved when it stops
  Queue queue;
  uint64_t steps[2] = {};
  std::thread first([&] { work(queue, "worker 1", steps[0]); }), second([&] { work(queue, "worker 2", steps[1]); });
  for (uint64_t i = 1; i <= 200; ++i) queue.push(i * 1000);
  for (int i = 0; i < 2; ++i) queue.push(0);
  first.join(), second.join();
  const KeyAverages averages = guard.stop()->keyAverages(GroupBy{false, 0, true});  // by thread
  for (const KeyAverage& row : averages.rows()) {
    std::printf("%-18s %-15s %4d calls %10.3f ms\n", row.thread.c_str(), row.name.c_str(), int(row.calls), double(row.self_cpu_ns) * 1e-6);
  }
  std::printf("%d steps\n", int(steps[0] + steps[1]));
} catch (const ProfilerError& error) {
  std::fprintf(stderr, "not profiled: %s\n", error.what());
  return EXIT_FAILURE;
}
