// A deadline holds while device records are decoded, linked and given out, and the trace says what became of it.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "assembled.h"
#include "hand_device.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using libkineto::ActivityType;

// Scopes of a thread, and as many kernels; their calls are put after all kernels.
Capture kernelsAndCalls(size_t scopes, size_t kernels) {
  HandCapture capture({}, {.policy = CapturePolicy::unbounded});
  HandThread& main = capture.thread(11, "main");
  HandDevice device(capture);
  for (size_t i = 0; i < scopes; ++i) {
    main.begin("scope", 10 * i, {}, RecordScope::USER_SCOPE);
    main.end("scope", 10 * i, 10 * i + 9, RecordScope::USER_SCOPE);
  }
  for (size_t i = 0; i < kernels; ++i)
    device.kernel("k", i + 1, static_cast<int64_t>(i % 8), 10 * i + 5, 10 * i + 9, "\"stream\": \1, \"correlation\": \1", {7, 1});
  for (size_t i = 0; i < kernels; ++i) device.call("launch", i + 1, 11, 10 * i + 1, 10 * i + 2);
  return capture.finish(10 * std::max(scopes, kernels) + 100);
}

struct Seen {
  TraceTotals totals;
  size_t host = 0;
  size_t device = 0;
  std::set<uint64_t> calls;
};

// Takes its time over the first batch that `slow` is true of.
template <typename Slow>
Seen read(const Capture& capture, std::chrono::nanoseconds deadline, Slow slow) {
  Seen seen;
  bool slept = false;
  seen.totals = assembleTrace(capture)->forEachBatch(
      [&](EventBatch& batch) {
        for (const TraceEvent& event : batch.events) {
          const bool of_backend = (event.flags & kEventOfBackend) != 0;
          (of_backend ? seen.device : seen.host) += 1;
          if (of_backend && event.type == ActivityType::CUDA_RUNTIME) seen.calls.insert(event.id);
        }
        if (slept || !slow(batch)) return;
        slept = true;
        std::this_thread::sleep_for(deadline + 100ms);
      },
      deadline);
  return seen;
}
bool isOfDevice(const EventBatch& batch) { return !batch.events.empty() && (batch.events.front().flags & kEventOfBackend) != 0; }

std::chrono::nanoseconds timeToRead(const Capture& capture) {
  const Clock::time_point begun = Clock::now();
  assembleTrace(capture)->forEachBatch([](EventBatch&) {});
  return Clock::now() - begun;
}
// Also on a machine that is busy with other things.
std::chrono::nanoseconds enoughFor(const Capture& capture) { return 200ms + 10 * timeToRead(capture); }

TEST(DeviceDeadline, ThatHasPassedLeavesNoDeviceEventsAndTheTraceSaysSo) {
  HandCapture capture;
  HandDevice device(capture);  // and no threads
  for (uint64_t i = 0; i < 1000; ++i) device.kernel("k", i + 1, 7, 10 * i, 10 * i + 5);
  const Capture done = capture.finish(100'000);
  const std::string path = exportPath("device_deadline.json");
  const Expected<ExportReport> report = exportCapture(done, path, {.deadline = 1ns});
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_FALSE(report->complete);
  const std::string json = fileText(path);
  unlink(path.c_str());
  EXPECT_TRUE(contains(json, R"("complete": false)"));
  EXPECT_EQ(countOf(json, "\"name\": \"k\""), 0u);
  EXPECT_EQ(checkerSays(json), "");
  EXPECT_EQ(Assembled(done).all("k").size(), 1000u);
}

TEST(DeviceDeadline, ThatPassesWhileThreadsAreReadLeavesTheirEventsAlone) {
  const Capture capture = kernelsAndCalls(20'000, 2000);
  const Seen seen = read(capture, enoughFor(capture), [](const EventBatch& batch) { return !isOfDevice(batch); });
  EXPECT_FALSE(seen.totals.complete);
  EXPECT_GT(seen.host, 1000u);
  EXPECT_EQ(seen.device, 0u);
  EXPECT_TRUE(seen.totals.links.empty());
  EXPECT_EQ(seen.totals.events, seen.host);
}

TEST(DeviceDeadline, ThatPassesWhileDeviceEventsAreGivenOutKeepsThoseUntilThen) {
  const Capture capture = kernelsAndCalls(1, 20'000);
  const Seen some = read(capture, enoughFor(capture), isOfDevice);
  EXPECT_FALSE(some.totals.complete);
  EXPECT_GT(some.device, 1000u);
  EXPECT_LT(some.device, 20'000u);
  EXPECT_EQ(some.totals.events, some.host + some.device);
  EXPECT_TRUE(some.calls.empty()) << "kernels come first in this capture";
  EXPECT_TRUE(some.totals.links.empty()) << "no arrow without the call that it comes from";

  const Seen all = read(capture, 1h, [](const EventBatch&) { return false; });
  EXPECT_TRUE(all.totals.complete);
  EXPECT_EQ(all.totals.links.size(), 20'000u);
  EXPECT_EQ(all.calls.size(), 20'000u);
}

// Wherever it falls: after a part of the time that the whole takes, little more than that part is over.
TEST(DeviceDeadline, IsKeptInEveryStep) {
  const Capture capture = kernelsAndCalls(50'000, 150'000);
  timeToRead(capture);  // looks at the capture for the first time
  for (const int percent : {1, 10, 20, 30, 40, 50, 60}) {
    bool kept = false;
    for (int tries = 0; tries < 10 && !kept; ++tries) {  // others use this machine too
      const std::chrono::nanoseconds all = timeToRead(capture);
      const std::chrono::nanoseconds deadline = all * percent / 100;
      const Clock::time_point begun = Clock::now();
      const TraceTotals totals = assembleTrace(capture)->forEachBatch([](EventBatch&) {}, deadline);
      kept = !totals.complete && Clock::now() - begun < deadline + all / 4;
    }
    EXPECT_TRUE(kept) << "after " << percent << " % of the time that it takes";
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
