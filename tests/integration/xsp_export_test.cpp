// xsp export as a user types it: what it prints, what it writes, and what it exits with.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "backends/fake/fake_device.h"
#include "typed_xsp.h"

namespace {

using namespace xsigma::profiler;
using test::contains;
using test::contents;
using test::Outcome;
using test::xsp;
namespace fs = std::filesystem;

class XspExport : public test::XspFolder {
 protected:
  void record(int scopes, CaptureOptions options = {}) {
    options.path = path_;
    Recording recording = *startRecording(options);
    for (int i = 0; i < scopes; ++i) {
      XSIGMA_PROFILE_SCOPE("exported");
    }
    recording.stop();
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }
};

TEST_F(XspExport, WritesJsonBesideTheCapture) {
  record(1234);
  const Outcome outcome = xsp("export " + path_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "run.json: 1234 events")) << outcome.output;
  const std::string json = contents(folder_ + "/run.json");
  EXPECT_TRUE(contains(outcome.output, std::to_string(json.size()) + " bytes")) << outcome.output;
  size_t slices = 0;
  for (size_t at = json.find("\"name\": \"exported\""); at != std::string::npos; at = json.find("\"name\": \"exported\"", at + 1)) ++slices;
  EXPECT_EQ(slices, 1234u);
  EXPECT_EQ(files(), 2u);
}

TEST_F(XspExport, CompressesWhenAsked) {
  record(100);
  const Outcome outcome = xsp("export " + path_ + " -t json.gz");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(std::system(("gzip -dc " + folder_ + "/run.json.gz | grep -q '\"name\": \"exported\"'").c_str()), 0);
}

TEST_F(XspExport, WritesWhereItIsTold) {
  record(10);
  const std::string elsewhere = folder_ + "/elsewhere.trace";
  EXPECT_EQ(xsp("export -o " + elsewhere + " " + path_).exit_code, 0);
  EXPECT_TRUE(contains(contents(elsewhere), "\"schemaVersion\": 1"));
  EXPECT_FALSE(fs::exists(folder_ + "/run.json"));
}

TEST_F(XspExport, TheSameFileWhateverTheNumberOfThreads) {
  record(20'000);
  const std::string out = folder_ + "/out.json";
  ASSERT_EQ(xsp("export -j 1 -o " + out + " " + path_).exit_code, 0);
  const std::string alone = contents(out);
  ASSERT_EQ(xsp("export -j 5 -o " + out + " " + path_).exit_code, 0);
  EXPECT_TRUE(contents(out) == alone);
}

TEST_F(XspExport, LeavesOutWordsForNumbersWhenAsked) {
  record(3);
  ASSERT_EQ(xsp("export --numeric-ids " + path_).exit_code, 0);
  const std::string json = contents(folder_ + "/run.json");
  EXPECT_FALSE(contains(json, "\"pid\": \"")) << json;
  EXPECT_TRUE(contains(json, "Record Window End")) << json;
}

TEST_F(XspExport, SaysWhatWasLostInTheCapture) {
  record(10'000, {.byte_cap = kMinimumByteCap});
  const Outcome outcome = xsp("export " + path_);
  EXPECT_EQ(outcome.exit_code, 0) << "all that was recorded is in the file: " << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "of 10000 scopes were lost; xsp verify")) << outcome.output;
}

TEST_F(XspExport, SaysWhatDevicesLost) {
  setenv("XSIGMA_PROFILER_BACKENDS", "fake", 1);
  backends::fake::FakeDevice& device = backends::fake::FakeDevice::get();
  device.setRoom(10);
  ProfilerConfig config(ProfilerState::KINETO);
  config.experimental_config.capture.path = path_;
  enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
  for (int i = 0; i < 20; ++i) device.launch("kernel", 0, std::chrono::nanoseconds(1));  // a call and its work
  disableProfiler();
  unsetenv("XSIGMA_PROFILER_BACKENDS");
  const Outcome outcome = xsp("export " + path_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "30 records of devices were lost; xsp verify")) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "scopes were lost")) << outcome.output;
}

TEST_F(XspExport, SaysThatTheDeadlineCameFirst) {
  record(300'000);
  const Outcome outcome = xsp("export --deadline 0.000001 " + path_);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "the deadline came first")) << outcome.output;
  EXPECT_TRUE(contains(contents(folder_ + "/run.json"), "\"complete\": false"));
}

TEST_F(XspExport, ADeadlineFarAwayIsNone) {
  record(1000);
  for (const char* const deadline : {"0", "3600", "1e30"}) {
    const Outcome outcome = xsp(std::string("export --deadline ") + deadline + " " + path_);
    EXPECT_EQ(outcome.exit_code, 0) << deadline << ": " << outcome.output;
  }
}

TEST_F(XspExport, ExportsWhatIsLeftOfADamagedCapture) {
  record(5000);
  fs::resize_file(path_, fs::file_size(path_) - 5000);
  const Outcome outcome = xsp("export " + path_);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "damaged in")) << outcome.output;
  EXPECT_TRUE(contains(contents(folder_ + "/run.json"), "\"name\": \"exported\""));
}

TEST_F(XspExport, RefusesWhatIsNoCapture) {
  std::ofstream(path_) << std::string(10'000, '?');
  const Outcome outcome = xsp("export " + path_);
  EXPECT_EQ(outcome.exit_code, 4) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "is no capture")) << outcome.output;
  EXPECT_EQ(files(), 1u);
}

TEST_F(XspExport, SaysWhyItCannot) {
  record(10);
  const struct {
    std::string arguments;
    const char* says;
  } cases[] = {
      {"export " + folder_ + "/missing.xst", "missing.xst"},
      {"export " + path_ + " -o " + folder_ + "/no/such/folder.json", "folders are not created"},
      {"export " + path_ + " -o " + folder_, "Is a directory"},
      {"export " + path_ + " -t jpeg", "json.gz"},
      {"export " + path_ + " --deadline soon", "deadline"},
      {"export " + path_ + " --deadline -1", "deadline"},
      {"export " + path_ + " -j 1000", "threads"},
      {"export", "FILE"},
      {"export " + path_ + " --unknown", "--unknown"},
  };
  for (const auto& each : cases) {
    const Outcome outcome = xsp(each.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << each.arguments << ": " << outcome.output;
    EXPECT_TRUE(contains(outcome.output, each.says)) << each.arguments << ": " << outcome.output;
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(XspExport, ExplainsItself) {
  const Outcome outcome = xsp("export --help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* const part : {"json.gz", "--deadline", "Exit status: 0", "4 not a capture"}) {
    EXPECT_TRUE(contains(outcome.output, part)) << outcome.output;
  }
}

}  // namespace
