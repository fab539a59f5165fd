// Averages of what overlaps: asynchronous ranges, scopes that cross, events that were given, work of devices.
#include <gtest/gtest.h>

#include "assembled.h"
#include "counted_times.h"
#include "hand_capture.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler {
namespace {

using test::HandCapture;
using test::HandThread;
using test::kHandRealtime;
using test::timesOf;

GivenEvent backendEvent(const char* name, int64_t begin, int64_t end, int64_t thread) {
  GivenEvent event;
  event.start_ns = kHandRealtime + begin;
  event.duration_ns = end - begin;
  event.process_id = test::kHandProcess;
  event.thread_id = thread;
  event.activity_type = static_cast<int32_t>(libkineto::ActivityType::CPU_OP);
  event.name = name;
  return event;
}

TEST(OverlappingAverages, AsyncScopesTakeNoThreadsTime) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("loop", 0);
  main.asyncBegin("request", 1, 100);
  main.asyncBegin("request", 2, 200);
  main.asyncEnd("request", 1, 500);
  main.scope("work", 550, 650);
  main.asyncEnd("request", 2, 800);
  main.asyncBegin("request", 3, 900);
  main.asyncEnd("request", 3, 950);
  main.end("loop", 0, 1000);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(timesOf(averages, "loop"), "calls 1 self 900 total 1000 mean 1000");
  EXPECT_EQ(timesOf(averages, "request"), "calls 3 self 0 total 750 mean 350");
  EXPECT_TRUE(averages.at("request").is_async);
  EXPECT_EQ(averages.selfCpuTotalNs(), 1000);
}

TEST(OverlappingAverages, AsyncScopesOfTwoThreadsAddUp) {
  HandCapture capture;
  for (int i = 0; i < 2; ++i) {
    HandThread& worker = capture.thread(20 + i, "worker");
    worker.asyncBegin("io", static_cast<uint64_t>(i) + 1, 100);
    worker.asyncEnd("io", static_cast<uint64_t>(i) + 1, 200);
  }
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(timesOf(averages, "io"), "calls 2 self 0 total 200 mean 100");
  EXPECT_EQ(averages.threads(), 2u);
}

TEST(OverlappingAverages, GivenEventsThatCrossTakeNoThreadsTime) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 0);
  main.given(backendEvent("first", 100, 800, 11), 900);
  main.given(backendEvent("second", 200, 850, 11), 901);  // cannot lie on the same row
  main.end("outer", 0, 1000);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(averages.selfCpuTotalNs(), 1000);
  EXPECT_EQ(averages.threads(), 1u);
  EXPECT_EQ(averages.at("second").self_cpu_ns, 0);
  EXPECT_EQ(averages.at("second").cpu_total_ns, 650);
  EXPECT_EQ(averages.at("first").self_cpu_ns, 700);
}

TEST(OverlappingAverages, GivenEventsCountOnlyWithinTheRecording) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("own", 0, 100);
  main.given(backendEvent("beyond", 500, 1'000'000'000, 77), 600);
  main.given(backendEvent("before", -5000, 50, 78), 600);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(averages.at("beyond").cpu_total_ns, 500);
  EXPECT_EQ(averages.at("before").cpu_total_ns, 50);
  EXPECT_LE(averages.selfCpuTotalNs(), averages.wallNs() * static_cast<int64_t>(averages.threads()));
}

TEST(OverlappingAverages, WhatBeginsInAScopeThatOutlivedItsOwnIsNotTakenFromThatOne) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 0);
  main.begin("outliving", 100);
  main.end("outer", 0, 200);
  main.memory(250, 0x10, 64, 64, 64);
  main.scope("later", 300, 400);
  main.end("outliving", 100, 500);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(timesOf(averages, "outer"), "calls 1 self 200 total 200 mean 200");
  EXPECT_EQ(timesOf(averages, "later"), "calls 1 self 100 total 100 mean 100");
  EXPECT_EQ(averages.selfCpuTotalNs(), 300);
}

TEST(OverlappingAverages, ScopesThatCrossAreNotCountedTwice) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("first", 100);
  main.begin("second", 200);  // outlives the first
  main.scope("inside", 220, 260);
  main.end("first", 100, 300);
  main.end("second", 200, 400);
  const KeyAverages averages = keyAverages(capture.finish(500));
  EXPECT_EQ(averages.selfCpuTotalNs(), 200);  // first alone: second overlaps it
  EXPECT_EQ(averages.at("second").self_cpu_ns, 0);
  EXPECT_EQ(averages.at("second").cpu_total_ns, 200);
  EXPECT_EQ(averages.at("first").self_cpu_ns + averages.at("inside").self_cpu_ns, 200);
}

TEST(OverlappingAverages, DeviceWorkBelongsToWhoAskedForItAndOverlapsCountOnce) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  const uint64_t step = main.begin("step", 0);
  const uint64_t op = main.begin("op", 10);
  main.end("op", 10, 50);
  const auto kernel = [&](const char* name, int64_t begin, int64_t end, uint64_t for_scope, int64_t stream) {
    GivenEvent event;
    event.start_ns = kHandRealtime + begin;
    event.duration_ns = end - begin;
    event.process_id = 0;
    event.thread_id = stream;
    event.activity_type = static_cast<int32_t>(libkineto::ActivityType::CONCURRENT_KERNEL);
    event.linked_correlation_id = for_scope;
    event.name = name;
    main.given(event, 900);
  };
  kernel("gemm", 100, 300, op, 7);
  kernel("gemm", 250, 400, op, 8);  // on another stream, 50 ns at the same time
  kernel("copy", 350, 500, step, 9);
  main.end("step", 0, 1000);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  EXPECT_EQ(averages.at("op").self_device_ns, 300);
  EXPECT_EQ(averages.at("op").device_total_ns, 300);
  EXPECT_EQ(averages.at("step").self_device_ns, 150);
  EXPECT_EQ(averages.at("step").device_total_ns, 400);
  EXPECT_EQ(averages.at("gemm").self_device_ns, 300);
  EXPECT_EQ(averages.at("gemm").calls, 2u);
  EXPECT_EQ(averages.at("gemm").device, DeviceType::CUDA);
  EXPECT_EQ(averages.at("gemm").self_cpu_ns, 0);
  EXPECT_EQ(averages.deviceBusyNs(), 400);
  EXPECT_EQ(averages.selfCpuTotalNs(), 1000);
  EXPECT_EQ(averages.threads(), 1u);
}

}  // namespace
}  // namespace xsigma::profiler
