#include "floor.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hot_path {
namespace {

inline uint64_t readCounter() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

constexpr size_t kBufferBytes = 65536;
alignas(64) thread_local char buffer[kBufferBytes];

struct Event {
  uint64_t begin;
  uint64_t end;
  uint64_t name;
  uint64_t thread;
};
static_assert(sizeof(Event) == 32);

template <typename Body>
inline void floorLoop(size_t count, Body inside) {
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t begin = readCounter();
    inside();
    const Event event{begin, readCounter(), i, 1};
    std::memcpy(buffer + at, &event, sizeof event);
    at = (at + sizeof event) % kBufferBytes;
    fence();
  }
}

inline void add80() {
  uint64_t a = 0, b = 0, c = 0, d = 0;
#pragma GCC unroll 20
  for (int i = 0; i < 20; ++i) {
    ++a, ++b, ++c, ++d;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
}

std::atomic<uint64_t> flag{0};
int body_rounds = 8;
volatile uint64_t never_read;

}  // namespace

double timePerPass(int threads, size_t warm_up, size_t count, const std::function<void(size_t)>& loop) {
  using Clock = std::chrono::steady_clock;
  std::barrier<> start(threads);
  std::vector<double> seconds(static_cast<size_t>(threads));
  const auto run = [&](size_t thread) {
    loop(warm_up);
    start.arrive_and_wait();
    const auto begin = Clock::now();
    loop(count);
    seconds[thread] = std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < seconds.size(); ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& other : others) other.join();
  double slowest = 0;
  for (const double each : seconds) slowest = each > slowest ? each : slowest;
  return slowest / static_cast<double>(count) * 1e9;
}

void floorOn(size_t count) { floorLoop(count, fence); }
void floorOnAroundBody(size_t count) { floorLoop(count, body); }
void floorOnAroundEightyAdds(size_t count) { floorLoop(count, add80); }

void eightyAdds(size_t count) {
  for (size_t i = 0; i < count; ++i) add80();
}

__attribute__((noinline)) void somebodyListens() { never_read = 1; }

void floorOff(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (__builtin_expect(flag.load(std::memory_order_relaxed) != 0, 0)) somebodyListens();
    keepLoop();
  }
}

void body() {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (int i = 0; i < body_rounds; ++i) {
    a = a * 5 + 1;
    b = b * 7 + 3;
    c = (c << 3) ^ c;
    d = (d >> 1) + 11;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  asm volatile("" ::"r"(a + b + c + d));
}

void tuneBody() {
  constexpr double kWantedNs = 33;
  const auto loop = [](size_t count) {
    for (size_t i = 0; i < count; ++i) body();
  };
  for (body_rounds = 4; timePerPass(1, 1000, 100'000, loop) < kWantedNs && body_rounds < 1000;) ++body_rounds;
}

}  // namespace hot_path
