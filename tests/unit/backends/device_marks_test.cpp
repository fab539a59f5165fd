// Sessions that record only while the program says so.
#include <chrono>
#include <future>

#include "fake_session.h"
#include "session/profiler_session.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using namespace profiled;

class DeviceMarks : public FakeSession {
 protected:
  static std::shared_ptr<session::ProfilerSession> startBetweenMarks() {
    session::SessionPlan plan = *session::planSession(allThreads(), kCpuAndDevice, {});
    plan.between_marks = true;
    return *session::ProfilerSession::start(std::move(plan));
  }
};

TEST_F(DeviceMarks, WhatLiesBetweenThemIsRecorded) {
  const auto session = startBetweenMarks();
  const auto work = [&] {
    device.launch("k", 0, 1ns);
    scopeCalled("step");
  };
  work();
  EXPECT_TRUE(device.mark(true));
  work();
  EXPECT_TRUE(device.mark(false));
  work();
  const Ledger ledger = session->stop().ledger();
  EXPECT_EQ(ledger.device.kernels, 1u);
  EXPECT_EQ(ledger.recorded, 1u);
}

TEST_F(DeviceMarks, ThatComeWhileTheRestOfAnEndedSessionIsFetchedDoNothing) {
  std::promise<void> fetching;
  std::promise<void> go_on;
  device.setBeforeFetch([&, ready = go_on.get_future().share()] {
    fetching.set_value();
    ready.wait();
  });
  auto session = startBetweenMarks();
  EXPECT_TRUE(device.mark(true));
  device.launch("k", 0, 1ns);
  const Capture capture = session->stop();
  session = nullptr;
  fetching.get_future().wait();
  EXPECT_TRUE(device.mark(false));  // the session is gone, its device is not
  EXPECT_TRUE(device.mark(true));
  go_on.set_value();
  EXPECT_EQ(capture.ledger().device.kernels, 1u);
}

}  // namespace
}  // namespace xsigma::profiler
