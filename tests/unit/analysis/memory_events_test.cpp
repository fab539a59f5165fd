// MemoryEvents against assemble::EventTable, which finds the same parents in another way, on captures made at random.
#include "analysis/memory_events.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "assembled.h"
#include "hand_capture.h"

namespace xsigma::profiler::test {
namespace {

using Found = std::vector<std::string>;

std::string line(int64_t time_ns, uint64_t address, int64_t bytes, uint32_t row, const std::string& path) {
  return std::to_string(time_ns - kHandRealtime) + " " + std::to_string(address) + " " + std::to_string(bytes) + " " + std::to_string(row) +
         path;
}

Found byTable(const Capture& capture) {
  const Assembled assembled(capture);
  Found found;
  for (const Assembled::Entry& entry : assembled.entries()) {
    if (entry.event.kind != TraceEventKind::memory && entry.event.kind != TraceEventKind::out_of_memory) continue;
    std::string path;
    for (uint32_t at = entry.parent; at != assemble::kNoParent; at = assembled.entries()[at].parent) {
      path += " < " + assembled.name(assembled.entries()[at]);
    }
    found.push_back(line(entry.event.start_ns, entry.details->address, entry.details->bytes, entry.event.row, path));
  }
  return found;
}

Found byEvents(const Capture& capture) {
  const analysis::MemoryEvents events(assembleTrace(capture));
  Found found;
  events.forEach([&](const analysis::MemoryRecord& record) {
    std::string path;
    for (uint32_t at = record.slice; at != analysis::kNoSlice; at = events.slices()[at].parent) {
      path += " < " + std::string(events.trace().name(events.slices()[at].name).text);
    }
    found.push_back(line(record.time_ns, record.address, record.bytes, record.row, path));
  });
  return found;
}

// Nested scopes with memory events between them; some never end, many share a nanosecond. Asynchronous ranges run across.
void fill(HandThread& thread, std::mt19937& random, size_t steps) {
  const auto chance = [&](unsigned of) { return random() % of == 0; };
  std::vector<std::pair<std::string, uint64_t>> open;
  uint64_t now = random() % 100;
  for (size_t i = 0; i < steps; ++i) {
    now += random() % 3;
    if (chance(3)) {
      open.emplace_back("s" + std::to_string(random() % 5), now);
      thread.begin(open.back().first, now);
    } else if (!open.empty() && chance(3)) {
      thread.end(open.back().first, open.back().second, now);
      open.pop_back();
    } else if (chance(20)) {
      thread.asyncBegin("request", i, now);
    } else if (chance(20)) {
      thread.asyncEnd("request", random() % (i + 1), now);
    } else if (chance(30)) {
      thread.outOfMemory(now, static_cast<int64_t>(random() % 1000), 0, 0);
    } else if (chance(10)) {
      thread.instant("instant", now);
    } else {
      thread.memory(now, random() % 16, static_cast<int64_t>(random() % 64) - 32, 0, 0);
    }
  }
}

TEST(MemoryEvents, HaveTheParentsThatTheTableFinds) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    HandCapture capture;
    for (int i = 0; i < 3; ++i) fill(capture.thread(11 + i, "thread"), random, 300);
    const Capture done = capture.finish(seed % 2 == 0 ? 100'000 : 0);
    const Found found = byEvents(done);
    EXPECT_GT(found.size(), 100u);
    const Found expected = byTable(done);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << "seed " << seed;
  }
}

TEST(MemoryEvents, HaveThemInARingToo) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    HandCapture capture({}, {.policy = CapturePolicy::ring, .byte_cap = size_t{64} << 10});
    HandThread& thread = capture.thread(11, "thread");
    thread.begin("lost begin", 0);
    thread.begin("also lost", 0);
    for (int i = 0; i < 4000; ++i) {
      thread.scope("filler", 200'000 + 2 * static_cast<uint64_t>(i), 200'001 + 2 * static_cast<uint64_t>(i));
      thread.memory(200'001 + 2 * static_cast<uint64_t>(i), 1, 1, 0, 0);
    }
    thread.end("also lost", 0, 300'000);
    thread.memory(300'001, random() % 9, 5, 0, 0);
    thread.end("lost begin", 0, 300'002);
    const Capture done = capture.finish(400'000);
    const Found found = byEvents(done);
    ASSERT_EQ(found, byTable(done)) << "seed " << seed;
    EXPECT_TRUE(contains(found.front(), " < also lost < lost begin")) << found.front();
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
