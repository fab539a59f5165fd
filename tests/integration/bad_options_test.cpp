// What cannot be honoured is refused in words: what was asked, what was found, what to do. The program goes on.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "capture_reading.h"
#include "child_process.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

// After a refusal scopes still work: nothing listens, and the next recording has them.
void expectScopesStillWork() {
  { XSIGMA_PROFILE_SCOPE("bad_options.unheard"); }
  Recording recording = record();
  { XSIGMA_PROFILE_SCOPE("bad_options.heard"); }
  const Capture capture = recording.stop();
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "bad_options.heard"), 1u);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "bad_options.unheard"), 0u);
}

void expectRefused(const CaptureOptions& options, StatusCode code, const std::vector<std::string>& words) {
  const Expected<Recording> recording = startRecording(options);
  ASSERT_FALSE(recording.ok());
  EXPECT_EQ(recording.status().code(), code) << recording.message();
  for (const std::string& word : words) EXPECT_NE(recording.message().find(word), std::string::npos) << "'" << word << "' in: " << recording.message();
}

TEST(BadOptions, AMissingFolderIsNamed) {
  expectRefused({.path = "/no/such/folder/a.xst"}, StatusCode::io_error, {"/no/such/folder/a.xst", "No such file", "folder"});
  expectScopesStillWork();
}

TEST(BadOptions, AFolderThatMayNotBeWrittenToIsNamed) {
  const std::string folder = temporaryPath("read_only");
  ASSERT_EQ(mkdir(folder.c_str(), 0555), 0);
  const int outcome = runInChild([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 2;
    expectRefused({.path = folder + "/a.xst"}, StatusCode::io_error, {folder + "/a.xst", "Permission denied", "written"});
    expectScopesStillWork();
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  rmdir(folder.c_str());
  if (outcome == 2) GTEST_SKIP() << "runs as root, and may not become anybody else";
  EXPECT_EQ(outcome, 0);
}

TEST(BadOptions, APathThatIsAFolderIsNamed) {
  expectRefused({.path = ::testing::TempDir()}, StatusCode::io_error, {::testing::TempDir(), "not a regular file", "Name a file"});
  expectScopesStillWork();
}

TEST(BadOptions, ACapSmallerThanAChunkNamesTheLeast) {
  expectRefused({.byte_cap = 0}, StatusCode::invalid_argument, {"byte_cap is 0", std::to_string(kMinimumByteCap)});
  expectRefused({.byte_cap = kMinimumByteCap - 1}, StatusCode::invalid_argument, {std::to_string(kMinimumByteCap - 1), std::to_string(kMinimumByteCap)});
  expectRefused({.policy = CapturePolicy::ring, .byte_cap = 4096}, StatusCode::invalid_argument, {"4096", std::to_string(kMinimumByteCap)});
  EXPECT_TRUE(startRecording({.byte_cap = kMinimumByteCap}).ok());
  expectScopesStillWork();
}

TEST(BadOptions, ACapThatNoAddressSpaceHoldsIsRefused) {
  expectRefused({.byte_cap = size_t{1} << 62}, StatusCode::io_error, {"byte_cap", "address space"});
  expectRefused({.byte_cap = SIZE_MAX}, StatusCode::io_error, {"byte_cap"});
  expectScopesStillWork();
}

TEST(BadOptions, APolicyThatIsNoneIsRefused) {
  expectRefused({.policy = static_cast<CapturePolicy>(7)}, StatusCode::invalid_argument, {"policy", "7", "stop_when_full"});
}

TEST(BadOptions, FollowingForksNeedsAPath) {
  expectRefused({.follow_fork = true}, StatusCode::invalid_argument, {"follow_fork", "path"});
}

TEST(BadOptions, AFifthRecordingIsToldToWait) {
  std::vector<Recording> running;
  for (int i = 0; i < 4; ++i) running.push_back(record());
  expectRefused({}, StatusCode::busy, {"4", "Stop one"});
  const TemporaryFile file("fifth.xst");
  expectRefused({.path = file.path}, StatusCode::busy, {"4", "Stop one"});
  EXPECT_NE(access(file.path.c_str(), F_OK), 0) << "a refused recording leaves no file";
  { XSIGMA_PROFILE_SCOPE("bad_options.four"); }
  for (Recording& recording : running) EXPECT_EQ(recording.stop().ledger().recorded, 1u);
  expectScopesStillWork();
}

TEST(BadOptions, OneFileIsNotRecordedToTwiceAtOnce) {
  const TemporaryFile file("twice.xst");
  Recording first = record({.path = file.path});
  { XSIGMA_PROFILE_SCOPE("bad_options.before"); }
  expectRefused({.path = file.path}, StatusCode::busy, {file.path, "already", "another"});
  { XSIGMA_PROFILE_SCOPE("bad_options.after"); }
  first.stop();
  const Expected<Capture> capture = openCapture(file.path);
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_EQ(capture->ledger().recorded, 2u);
  { const Recording again = record({.path = file.path}); }
  EXPECT_EQ(openCapture(file.path)->ledger().recorded, 0u) << "a finished file may be recorded to again";
}

TEST(BadEnvironment, UnknownValuesNameTheVariableTheValueAndTheChoices) {
  {
    const Environment policy("XSIGMA_PROFILER_POLICY", "circular");
    expectRefused({}, StatusCode::invalid_argument, {"XSIGMA_PROFILER_POLICY", "circular", "unbounded", "stop_when_full", "ring"});
  }
  for (const char* const value : {"much", "64X", "-1", "12.5M", "99999999999999999999", "64MBB", "K"}) {
    const Environment cap("XSIGMA_PROFILER_CAP", value);
    expectRefused({}, StatusCode::invalid_argument, {"XSIGMA_PROFILER_CAP", value, "64M"});
  }
  {
    const Environment cap("XSIGMA_PROFILER_CAP", "1K");
    expectRefused({}, StatusCode::invalid_argument, {"1024", std::to_string(kMinimumByteCap)});
  }
  {
    const Environment clock("XSIGMA_PROFILER_CLOCK", "sundial");
    expectRefused({}, StatusCode::invalid_argument, {"XSIGMA_PROFILER_CLOCK", "sundial", "monotonic"});
  }
  expectScopesStillWork();
}

TEST(Environment, GoesBeforeTheOptions) {
  const TemporaryFile asked("asked.xst");
  const TemporaryFile file("environment.xst");
  const Environment policy("XSIGMA_PROFILER_POLICY", "ring");
  const Environment cap("XSIGMA_PROFILER_CAP", "128K");
  const Environment path("XSIGMA_PROFILER_FILE", file.path.c_str());
  Recording recording = record({.policy = CapturePolicy::unbounded, .byte_cap = 1 << 20, .path = asked.path});
  const Capture capture = recording.stop();
  EXPECT_EQ(capture.info().policy, CapturePolicy::ring);
  EXPECT_EQ(capture.info().byte_cap, 128u * 1024);
  EXPECT_EQ(capture.info().path, file.path);
  EXPECT_TRUE(openCapture(file.path).ok());
  EXPECT_NE(access(asked.path.c_str(), F_OK), 0);
}

TEST(Environment, EmptyValuesCountAsUnset) {
  const Environment policy("XSIGMA_PROFILER_POLICY", "");
  const Environment cap("XSIGMA_PROFILER_CAP", "");
  const CaptureInfo info = record({.policy = CapturePolicy::ring, .byte_cap = 1 << 20}).stop().info();
  EXPECT_EQ(info.policy, CapturePolicy::ring);
  EXPECT_EQ(info.byte_cap, 1u << 20);
}

}  // namespace
}  // namespace xsigma::profiler::test
