// What flame graphs are drawn from.
#include <gtest/gtest.h>

#include "assembled.h"
#include "hand_capture.h"
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler {
namespace {

using test::HandCapture;
using test::HandThread;

std::string stacksOf(const Capture& capture, std::string_view metric = "self_cpu_time_total") {
  const std::string path = test::exportPath("stacks.txt");
  exportStacks(capture, path, metric);
  std::string text = test::fileText(path);
  unlink(path.c_str());
  return text;
}

TEST(Stacks, HaveALineForEachPathAndItsOwnMicroseconds) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 0);
  main.scope("inner", 10'000, 30'000);
  main.scope("inner", 40'000, 45'400);
  main.end("outer", 0, 100'000);
  main.scope("inner", 200'000, 207'000);
  EXPECT_EQ(stacksOf(capture.finish(300'000)),
            "inner 7\n"
            "outer 75\n"
            "outer;inner 25\n");
}

TEST(Stacks, AreSafeForReaders) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("a b;c", 0);
  main.scope("d\te\nf", 0, 2000);
  main.end("a b;c", 0, 5000);
  EXPECT_EQ(stacksOf(capture.finish(9000)), "a_b_c 3\na_b_c;d_e_f 2\n");
}

TEST(Stacks, OfThreadsAreAddedUp) {
  HandCapture capture;
  for (int i = 0; i < 3; ++i) capture.thread(10 + i, "worker").scope("work", 0, 1400);  // 4.2 µs: rounded once, not three times
  EXPECT_EQ(stacksOf(capture.finish(2000)), "work 4\n");
}

TEST(Stacks, AreNativeFramesWhereTheyWereRecorded) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 0);
  main.stack({0x20, 0x10}, 1000);  // innermost first
  main.scope("inner", 1000, 4000);
  main.end("outer", 0, 10'000);
  EXPECT_EQ(stacksOf(capture.finish(20'000)), "0x10;0x20;inner 3\nouter 7\n");
}

TEST(Stacks, OfADeviceEndWithItsWork) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("step", 0);
  const uint64_t op = main.begin("op", 10);
  main.end("op", 10, 50);
  const auto kernel = [&](uint64_t for_scope, int64_t begin) {
    GivenEvent event;
    event.start_ns = test::kHandRealtime + begin;
    event.duration_ns = 2000;
    event.thread_id = 7;
    event.activity_type = static_cast<int32_t>(libkineto::ActivityType::CONCURRENT_KERNEL);
    event.linked_correlation_id = for_scope;
    event.name = "gemm";
    main.given(event, 20'000);
  };
  kernel(op, 1000);
  kernel(op, 4000);
  kernel(0, 8000);
  main.end("step", 0, 30'000);
  const Capture done = capture.finish(40'000);
  EXPECT_EQ(stacksOf(done, "self_cuda_time_total"), "gemm 2\nstep;op;gemm 4\n");
  EXPECT_EQ(stacksOf(done, "self_device_time_total"), stacksOf(done, "self_cuda_time_total"));
  EXPECT_EQ(stacksOf(done), "step 30\nstep;op 0\n");
}

TEST(Stacks, TellWhatTheyCanBeMeasuredBy) {
  HandCapture capture;
  const Capture done = capture.finish(10);
  try {
    exportStacks(done, test::exportPath("never.txt"), "wall");
    FAIL() << "there is no such metric";
  } catch (const ProfilerError& error) {
    EXPECT_TRUE(test::contains(error.what(), "'wall'"));
    EXPECT_TRUE(test::contains(error.what(), "self_cpu_time_total"));
  }
}

}  // namespace
}  // namespace xsigma::profiler
