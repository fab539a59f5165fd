// Which queue an event says that it ran on, wherever the trace shows it.
#include <gtest/gtest.h>

#include "assembled.h"
#include "hand_device.h"
#include "kineto/captured_trace.h"
#include "kineto/result_table.h"

namespace xsigma::profiler::test {
namespace {

using libkineto::ActivityType;

// The queues by name, as both faces tell them.
std::map<std::string, int64_t> queuesOf(const Capture& capture) {
  auto table = std::make_shared<KinetoEvent::Table>();
  table->events = assemble::tabulate(assembleTrace(capture));
  std::map<std::string, int64_t> queues;
  for (size_t i = 0; i < table->events->entries.size(); ++i) {
    const KinetoEvent event(table, i);
    queues[event.name()] = event.deviceResourceId();
  }
  CapturedTrace trace(capture, {});
  for (const libkineto::ITraceActivity* const activity : *trace.activities())
    EXPECT_EQ(activity->resourceId(), queues.at(activity->name())) << activity->name();
  return queues;
}

DeviceActivity sync(int64_t queue) {
  DeviceActivity activity;
  activity.role = DeviceRole::note;
  activity.type = ActivityType::CUDA_SYNC;
  activity.thread_id = queue;
  return activity;
}

TEST(DeviceResource, WorkThatCrossesAnotherOnItsQueueIsStillOfThatQueue) {
  HandCapture capture;
  HandDevice device(capture);
  device.kernel("first", 1, 7, 100, 200);
  device.kernel("crosses", 2, 7, 150, 250);
  device.kernel("crosses both", 3, 7, 160, 300);
  const Capture done = capture.finish(1000);
  const Assembled trace(done);
  ASSERT_TRUE(trace.row(trace["crosses"]).beside);
  ASSERT_NE(trace.row(trace["crosses"]).thread_id, trace.row(trace["crosses both"]).thread_id);
  const auto queues = queuesOf(done);
  EXPECT_EQ(queues.at("first"), 7);
  EXPECT_EQ(queues.at("crosses"), 7);
  EXPECT_EQ(queues.at("crosses both"), 7);
}

TEST(DeviceResource, AWaitIsOfTheQueueThatItWaitsFor) {
  HandCapture capture;
  HandDevice device(capture);
  device.put(sync(7), "long wait", 100, 200);
  device.put(sync(7), "long wait beside", 150, 250);
  device.put(sync(7), "no wait", 400, 401);
  device.put(sync(-1), "whole device", 500, 600);
  const auto queues = queuesOf(capture.finish(1000));
  EXPECT_EQ(queues.at("long wait"), 7);
  EXPECT_EQ(queues.at("long wait beside"), 7);
  EXPECT_EQ(queues.at("no wait"), 7);
  EXPECT_EQ(queues.at("whole device"), -1);
}

TEST(DeviceResource, OnlyWaitsHaveRowsOfTheirOwn) {
  HandCapture capture;
  HandDevice device(capture);
  DeviceActivity range = sync(0xC0000000);
  range.type = ActivityType::CUDA_PROFILER_RANGE;
  device.put(range, "range", 100, 200);
  device.put(sync(0), "whole context", 100, 200);
  const auto queues = queuesOf(capture.finish(1000));
  EXPECT_EQ(queues.at("range"), 0xC0000000);
  EXPECT_EQ(queues.at("whole context"), 0);
}

TEST(DeviceResource, ACallBesideTheScopesOfItsThreadIsStillOfThatThread) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("scope", 100, 200);
  HandDevice device(capture);
  device.call("crosses", 1, 11, 150, 250);
  const auto queues = queuesOf(capture.finish(1000));
  EXPECT_EQ(queues.at("scope"), 11);
  EXPECT_EQ(queues.at("crosses"), 11);
}

}  // namespace
}  // namespace xsigma::profiler::test
