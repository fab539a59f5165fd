// xsp verify as a user types it: what it prints, and what it exits with.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "collect/live_capture.h"
#include "typed_xsp.h"

namespace {

using namespace xsigma::profiler;
using test::Outcome;
using test::xsp;

class XspVerify : public testing::Test {
 protected:
  ~XspVerify() override { std::filesystem::remove(path_); }

  void record(const CaptureOptions& options, int scopes) {
    CaptureOptions to_file = options;
    to_file.path = path_;
    Recording recording = *startRecording(to_file);
    for (int i = 0; i < scopes; ++i) {
      XSIGMA_PROFILE_SCOPE("verified");
    }
    recording.stop();
  }

  const std::string path_ = testing::TempDir() + "xsp_verify_" + std::to_string(getpid()) + ".xst";
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(XspVerify, SaysThatAWholeCaptureIsWhole) {
  record({}, 1234);
  const Outcome outcome = xsp("verify " + path_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, ": whole")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "1234")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "stopped in good order")) << outcome.output;
}

TEST_F(XspVerify, NamesTheCauseOfALoss) {
  CaptureOptions small;
  small.byte_cap = kMinimumByteCap;
  record(small, 10'000);
  const Outcome outcome = xsp("verify " + path_);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "with losses")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "cap_reached")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "10000")) << outcome.output;
}

// What a backend has put when the recording ended: kernels that were asked for and are not over, some of them several times.
void recordPending(const std::string& path, int kernels) {
  CaptureOptions options;
  options.path = path;
  const auto live = *collect::LiveCapture::start(options);
  const auto output = live->openDevices("some backend");
  output->open();
  DeviceActivity kernel;
  kernel.role = DeviceRole::pending;
  for (int i = 0; i < kernels; ++i) {
    const std::string digits = std::to_string(i);
    kernel.name = output->text("kernel_" + std::string(2 - digits.size(), '0') + digits);
    for (int times = 0; times <= i; ++times) {
      ++kernel.correlation;
      output->put(kernel);
    }
  }
  output->lost(DeviceLoss::buffers_full, 7);
  output->lost(DeviceLoss::unreadable, 5);
  live->stop().info();  // waits for its end
}

TEST_F(XspVerify, NamesThePendingKernelsAndTheCausesOfTheDevicesLosses) {
  recordPending(path_, 3);
  const Outcome outcome = xsp("verify " + path_);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  for (const char* const line : {"18 kernels launched = 0 recorded + 6 pending + 12 dropped", "  pending: 1 of kernel_00\n", "  pending: 2 of kernel_01\n",
                                 "  pending: 3 of kernel_02\n", "  7 device records were dropped: buffers_full\n",
                                 "  5 device records were dropped: unreadable\n"}) {
    EXPECT_TRUE(contains(outcome.output, line)) << line << " is missing in:\n" << outcome.output;
  }
  EXPECT_FALSE(contains(outcome.output, "kernels more")) << outcome.output;
}

TEST_F(XspVerify, NamesTenPendingKernelsAndCountsTheRest) {
  recordPending(path_, 14);
  const std::string output = xsp("verify " + path_).output;
  EXPECT_TRUE(contains(output, "  pending: 10 of kernel_09\n")) << output;
  EXPECT_FALSE(contains(output, "kernel_10")) << output;
  EXPECT_TRUE(contains(output, "  … and 4 kernels more\n")) << output;
}

TEST_F(XspVerify, FindsATruncatedFile) {
  record({}, 5000);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 5000);
  const Outcome outcome = xsp("verify " + path_);
  EXPECT_EQ(outcome.exit_code, 4) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "bytes early")) << outcome.output;
}

TEST_F(XspVerify, RefusesWhatIsNoCapture) {
  std::FILE* const file = std::fopen(path_.c_str(), "w");
  for (int i = 0; i < 1000; ++i) std::fputs("not a capture ", file);
  std::fclose(file);
  const Outcome outcome = xsp("verify " + path_);
  EXPECT_EQ(outcome.exit_code, 4) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "is no capture")) << outcome.output;
}

TEST_F(XspVerify, SaysWhatToDoAboutAMissingFile) {
  const Outcome outcome = xsp("verify /no/such/file.xst");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.output, "/no/such/file.xst")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "Check the path")) << outcome.output;
}

TEST_F(XspVerify, ExplainsItselfWhenMisused) {
  const Outcome nothing = xsp("");
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_TRUE(contains(nothing.output, "verify")) << nothing.output;
  const Outcome unknown = xsp("verify --unknown x.xst");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.output, "--unknown")) << unknown.output;
  const Outcome help = xsp("verify --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_TRUE(contains(help.output, "3 readable with losses")) << help.output;
}

}  // namespace
