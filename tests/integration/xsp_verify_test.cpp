// xsp verify as a user types it: what it prints, and what it exits with.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

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
