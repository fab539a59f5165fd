// Random recordings, counted a second time by painting every nanosecond of every thread.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "assembled.h"
#include "hand_capture.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler {
namespace {

using test::HandCapture;
using test::HandThread;

constexpr uint64_t kEnd = 2000;

struct Painted {
  std::map<std::string, int64_t> self;
  std::map<std::string, int64_t> total;
  std::map<std::string, uint64_t> calls;
  int64_t busy = 0;
};

struct Open {
  std::string name;
  uint64_t begin;
};

// A thread that begins and ends scopes at random, and what every nanosecond of it was spent in.
void runThread(HandThread& thread, std::mt19937& random, Painted& painted) {
  std::vector<Open> open;
  const auto spend = [&](uint64_t from, uint64_t to) {
    for (uint64_t now = from; now < to; ++now) {
      if (open.empty()) continue;
      ++painted.busy;
      ++painted.self[open.back().name];
      std::map<std::string, bool> seen;
      for (const Open& each : open) {
        if (!seen[each.name]) ++painted.total[each.name];
        seen[each.name] = true;
      }
    }
  };
  uint64_t now = random() % 50;
  while (now < kEnd) {
    const bool begins = open.empty() || (open.size() < 8 && random() % 2 == 0);
    if (begins) {
      const std::string name(1, static_cast<char>('a' + random() % 5));
      thread.begin(name, now);
      ++painted.calls[name];
      open.push_back({name, now});
    } else {
      thread.end(open.back().name, open.back().begin, now);
      open.pop_back();
    }
    const uint64_t next = std::min(kEnd, now + random() % 40);
    spend(now, next);
    now = next;
    if (random() % 100 == 0) break;  // leaves the rest open
  }
  spend(now, kEnd);
  if (random() % 2 == 0) return;
  while (!open.empty()) {
    thread.end(open.back().name, open.back().begin, kEnd);
    open.pop_back();
  }
}

TEST(RandomAverages, EqualWhatPaintingEveryNanosecondGives) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    HandCapture capture;
    Painted painted;
    const int threads = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < threads; ++i) runThread(capture.thread(10 + i, "thread"), random, painted);
    const KeyAverages averages = keyAverages(capture.finish(kEnd));
    ASSERT_EQ(averages.rows().size(), painted.calls.size()) << "seed " << seed;
    for (const KeyAverage& row : averages.rows()) {
      EXPECT_EQ(row.calls, painted.calls[row.name]) << row.name << ", seed " << seed;
      EXPECT_EQ(row.self_cpu_ns, painted.self[row.name]) << row.name << ", seed " << seed;
      EXPECT_EQ(row.cpu_total_ns, painted.total[row.name]) << row.name << ", seed " << seed;
      EXPECT_LE(row.cpu_total_ns, averages.wallNs() * static_cast<int64_t>(averages.threads()));
    }
    EXPECT_EQ(averages.selfCpuTotalNs(), painted.busy) << "seed " << seed;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace xsigma::profiler
