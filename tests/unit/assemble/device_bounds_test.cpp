// Captures that ask for much more than they hold: reading them takes time and memory in proportion to their size.
#include <gtest/gtest.h>

#include <chrono>

#include "assembled.h"
#include "capture/mark_codec.h"
#include "hand_device.h"
#include "parsed_json.h"

namespace xsigma::profiler::test {
namespace {

using libkineto::ActivityType;

constexpr CaptureOptions kRoomy{.policy = CapturePolicy::stop_when_full, .byte_cap = size_t{64} << 20};

size_t annotationsOf(const Assembled& trace) {
  size_t count = 0;
  for (const Assembled::Entry& entry : trace.entries()) count += entry.event.type == ActivityType::GPU_USER_ANNOTATION;
  return count;
}

// Kernels on `queues` queues, asked for inside `depth` scopes.
Capture deeplyAsked(size_t depth, size_t queues) {
  HandCapture capture({}, kRoomy);
  HandThread& main = capture.thread(11, "main");
  HandDevice device(capture);
  for (size_t i = 0; i < depth; ++i) main.begin("scope " + std::to_string(i), 1 + i, {}, RecordScope::USER_SCOPE);
  const uint64_t start = depth + 10;
  for (size_t i = 0; i < queues; ++i) {
    device.call("launch", i + 1, 11, start + 2 * i, start + 2 * i + 1);
    device.kernel("k", i + 1, static_cast<int64_t>(i), start + 2 * i + 1, start + 2 * i + 2);
  }
  return capture.finish(start + 2 * queues + 10);
}

TEST(DeviceBounds, WorkIsShownInItsScopesUpToSixtyFour) {
  const Assembled few(deeplyAsked(64, 1));
  EXPECT_EQ(annotationsOf(few), 64u);
  EXPECT_EQ(few.totals().annotations_cut, 0u);
  const Assembled many(deeplyAsked(65, 1));
  EXPECT_EQ(annotationsOf(many), 64u);
  EXPECT_EQ(many.totals().annotations_cut, 1u);
  EXPECT_EQ(many.all("scope 0").size(), 1u) << "the outermost one is not shown on the device";
  EXPECT_EQ(many.all("scope 64").size(), 2u);
}

TEST(DeviceBounds, ScopesTimesQueuesMakeNoMoreAnnotationsThanThereIsWork) {
  constexpr size_t kQueues = 20'000;
  const Capture capture = deeplyAsked(60, kQueues);
  const Assembled trace(capture);
  EXPECT_EQ(trace.all("k").size(), kQueues) << "all the work is there";
  EXPECT_GE(annotationsOf(trace), 8 * kQueues);
  EXPECT_LE(annotationsOf(trace), 8 * kQueues + 4096);
  EXPECT_GT(trace.totals().annotations_cut, 0u);
  EXPECT_LT(trace.totals().annotations_cut, kQueues);
  EXPECT_TRUE(contains(exportText(capture), "\"annotations_cut\": " + std::to_string(trace.totals().annotations_cut)));
}

TEST(DeviceBounds, KernelsThatAllCrossEachOtherGetHundredsOfRowsAndAreAllShown) {
  constexpr size_t kKernels = 30'000;
  HandCapture capture({}, kRoomy);
  HandDevice device(capture);
  for (size_t i = 0; i < kKernels; ++i) device.kernel("k", 0, 7, 100 + i, 100 + kKernels + i);
  const Assembled trace(capture.finish(1'000'000));
  const auto kernels = trace.all("k");
  EXPECT_EQ(kernels.size(), kKernels);
  EXPECT_LT(trace.totals().rows.size(), 300u);
  size_t slices = 0;
  for (const Assembled::Entry* const each : kernels) {
    slices += each->event.kind == TraceEventKind::slice;
    EXPECT_EQ(each->event.duration_ns, static_cast<int64_t>(kKernels));
    EXPECT_EQ(each->parent, assemble::kNoParent) << "what only crosses is in nothing";
  }
  EXPECT_EQ(slices, 256u);
  EXPECT_EQ(trace.totals().overlapping, kKernels - slices);
}

TEST(DeviceBounds, FewKernelsThatCrossAreAllSlices) {
  HandCapture capture;
  HandDevice device(capture);
  for (size_t i = 0; i < 256; ++i) device.kernel("k", 0, 7, 100 + i, 1000 + i);
  const Assembled trace(capture.finish(10'000));
  for (const Assembled::Entry* const each : trace.all("k")) EXPECT_EQ(each->event.kind, TraceEventKind::slice);
  EXPECT_EQ(trace.totals().overlapping, 0u);
}

// The innermost id of the domain of ops says whose work it is; other domains are others' business.
TEST(DeviceBounds, ExternalIdsOfOtherDomainsNeitherCountNorCost) {
  const auto read = [](size_t pushes) {
    HandCapture capture({}, kRoomy);
    HandThread& main = capture.thread(11, "main");
    HandDevice device(capture);
    const auto put = [&](capture::Code code, uint64_t id, uint8_t domain, uint64_t ticks) {
      putExternalId(main.writer(), capture.ticks(ticks), code, id, domain);
    };
    put(capture::Code::external_push, 77, 0, 10);
    for (size_t i = 0; i < pushes; ++i) put(capture::Code::external_push, 5, 1, 20 + i);
    put(capture::Code::external_push, 78, 0, 20 + pushes);
    put(capture::Code::external_pop, 0, 0, 21 + pushes);
    const uint64_t start = 30 + pushes;
    for (size_t i = 0; i < pushes; ++i) {
      device.call("launch", i + 1, 11, start + 2 * i, start + 2 * i + 1);
      device.kernel("k", i + 1, 7, start + 2 * i + 1, start + 2 * i + 2);
    }
    const Capture done = capture.finish(start + 2 * pushes + 10);
    const auto begun = std::chrono::steady_clock::now();
    const Assembled trace(done);
    const auto took = std::chrono::steady_clock::now() - begun;
    for (const Assembled::Entry* const each : trace.all("k")) EXPECT_EQ(each->details->linked_id, 77u);
    return took;
  };
  const auto few = read(10'000);
  const auto many = read(80'000);
  EXPECT_LT(many, 30 * few + std::chrono::milliseconds(500))
      << "eight times as many take sixty-four times as long where each looks through all";
}

TEST(DeviceBounds, NumbersOfDevicesQueuesAndThreadsAtTheirExtremesAreShown) {
  HandCapture capture;
  HandDevice device(capture);
  size_t put = 0;
  for (const int64_t process : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    for (const int64_t thread : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
      for (uint8_t role = 0; role <= static_cast<uint8_t>(DeviceRole::pending); ++role) {
        DeviceActivity activity;
        activity.role = static_cast<DeviceRole>(role);
        activity.process_id = process;
        activity.thread_id = thread;
        device.put(activity, "extreme", 100, 200);
        put += activity.role == DeviceRole::work || activity.role == DeviceRole::note || activity.role == DeviceRole::call;
      }
    }
  }
  const std::string json = exportText(capture.finish(1000));
  EXPECT_NO_THROW(parsed::json(json));
  EXPECT_GE(countOf(json, "\"name\": \"extreme\""), put);
}

}  // namespace
}  // namespace xsigma::profiler::test
