// What the profiler says when it is called at the wrong time or with the wrong thing, and that it is usable afterwards.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

TEST(Enabling, TwiceOnAThreadIsRefusedAndTheFirstGoesOn) {
  enableProfiler(kineto(), kCpu);
  scopeCalled("before");
  expectWords(refusal([] { enableProfiler(kineto(), kCpu); }), {"already enabled on this thread", "disableProfiler()"});
  scopeCalled("after");
  EXPECT_EQ(names(*disableProfiler()), (Names{"before", "after"}));
  expectUsable();
}

TEST(Enabling, TwiceForAllThreadsIsRefusedWhateverTheThread) {
  enableProfiler(allThreads(), kCpu);
  std::thread([] {
    expectWords(refusal([] { enableProfiler(allThreads(), kCpu); }), {"already enabled for all threads", "disableProfiler()"});
  }).join();
  disableProfiler();
  expectUsable();
}

TEST(Enabling, WithoutActivitiesIsRefused) {
  expectWords(refusal([] { enableProfiler(kineto(), {}); }), {"No activities specified", "ActivityType::CPU"});
  expectWords(refusal([] { prepareProfiler(kineto(), {}); }), {"No activities specified"});
  EXPECT_FALSE(profilerEnabled());
  EXPECT_FALSE(isProfilerEnabledInMainThread());
  expectUsable();
}

TEST(Enabling, WithAScopeThatIsNoneIsRefused) {
  expectWords(refusal([] { enableProfiler(kineto(), kCpu, {RecordScope::NUM_SCOPES}); }), {"10", "RecordScope", "NUM_SCOPES"});
  expectUsable();
}

TEST(Enabling, AFifthSessionAtOnceIsToldToStopOne) {
  std::vector<Recording> recordings;
  for (int i = 0; i < 4; ++i) recordings.push_back(startRecording().value());
  expectWords(refusal([] { enableProfiler(kineto(), kCpu); }), {"4 recordings", "Stop one"});
  EXPECT_FALSE(profilerEnabled());
  recordings.clear();
  expectUsable();
}

TEST(Enabling, WithACaptureThatCannotBeIsRefused) {
  ProfilerConfig config = kineto();
  config.experimental_config.capture.byte_cap = 1;
  expectWords(refusal([&] { enableProfiler(config, kCpu); }), {"byte_cap", "1"});
  config = kineto();
  config.experimental_config.capture.path = "/no/such/folder/capture.xst";
  expectWords(refusal([&] { enableProfiler(config, kCpu); }), {"/no/such/folder/capture.xst"});
  expectUsable();
}

TEST(Preparing, IsNotNeededAndHarmless) {
  prepareProfiler(kineto(), kCpu);
  prepareProfiler(kineto(), kCpu);
  EXPECT_FALSE(profilerEnabled());
  expectUsable();
}

TEST(Disabling, WhileIdleIsRefused) {
  expectWords(refusal([] { disableProfiler(); }), {"not running", "enableProfiler()"});
  expectUsable();
}

TEST(Disabling, TwiceIsRefused) {
  enableProfiler(kineto(), kCpu);
  EXPECT_NE(disableProfiler(), nullptr);
  expectWords(refusal([] { disableProfiler(); }), {"not running", "enableProfiler()"});
  expectUsable();
}

TEST(Disabling, OnAnotherThreadIsRefusedAndTheSessionGoesOn) {
  enableProfiler(kineto(), kCpu);
  std::thread([] { expectWords(refusal([] { disableProfiler(); }), {"not running", "on this thread"}); }).join();
  scopeCalled("still on");
  EXPECT_EQ(names(*disableProfiler()), Names{"still on"});
}

TEST(Joining, WithNothingOnIsRefused) {
  EXPECT_FALSE(isProfilerEnabledInMainThread());
  expectWords(refusal([] { enableProfilerInChildThread(); }), {"not enabled in main thread", "isProfilerEnabledInMainThread()"});
  expectWords(refusal([] { disableProfilerInChildThread(); }), {"not running in this thread", "enableProfilerInChildThread()"});
  expectUsable();
}

TEST(Joining, AfterTheSessionIsOverIsRefused) {
  enableProfiler(kineto(), kCpu);
  EXPECT_TRUE(isProfilerEnabledInMainThread());
  disableProfiler();
  std::thread([] {
    EXPECT_FALSE(isProfilerEnabledInMainThread());
    expectWords(refusal([] { enableProfilerInChildThread(); }), {"not enabled in main thread"});
  }).join();
  expectUsable();
}

TEST(Leaving, OnceMoreThanJoiningIsRefused) {
  enableProfiler(kineto(), kCpu);
  std::thread([] {
    enableProfilerInChildThread();
    disableProfilerInChildThread();
    expectWords(refusal([] { disableProfilerInChildThread(); }), {"not running in this thread"});
  }).join();
  disableProfiler();
  expectUsable();
}

TEST(Disabling, OnAThreadThatJoinedSaysWhoShould) {
  enableProfiler(kineto(), kCpu);
  std::thread([] {
    enableProfilerInChildThread();
    scopeCalled("child before");
    expectWords(refusal([] { disableProfiler(); }), {"joined", "disableProfilerInChildThread()", "disableProfiler()"});
    scopeCalled("child after");
    disableProfilerInChildThread();
  }).join();
  EXPECT_EQ(names(*disableProfiler()), (Names{"child before", "child after"}));
}

class Saving : public testing::Test {
 protected:
  Folder folder_;
  std::unique_ptr<ProfilerResult> result_ = profile([] { scopeCalled("a"); });
};

TEST_F(Saving, IntoAFolderThatIsNotThereIsRefused) {
  for (const char* const name : {"missing/trace.json", "missing/trace.json.gz", "missing/trace.xst", "missing/trace"}) {
    const std::string path = folder_ / name;
    expectWords(refusal([&] { result_->save(path); }), {path, "No such file or directory", "folders are not created"});
  }
  EXPECT_EQ(folder_.files(), Names{});
  result_->save(folder_ / "trace.json");
  EXPECT_EQ(folder_.files(), Names{"trace.json"});
}

TEST_F(Saving, OverAFolderIsRefused) {
  for (const char* const name : {"folder.json", "folder.json.gz", "folder.xst"}) {
    const std::string path = folder_ / name;
    std::filesystem::create_directory(path);
    expectWords(refusal([&] { result_->save(path); }), {path, "directory"});
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_EQ(folder_.files().size(), 3u) << "no half-written file is left";
}

TEST_F(Saving, WithoutANameIsRefused) {
  expectWords(refusal([&] { result_->save(""); }), {"path is empty", "Name a file"});
}

TEST_F(Saving, WhereNobodyMayWriteIsRefused) {
  if (geteuid() == 0) {
    // Root may write everywhere but in the kernel's own folders.
    expectWords(refusal([&] { result_->save("/proc/xsigma_trace.json"); }), {"/proc/xsigma_trace.json", "Choose a folder"});
    return;
  }
  ASSERT_EQ(chmod(folder_.path().c_str(), 0500), 0);
  expectWords(refusal([&] { result_->save(folder_ / "trace.json"); }), {"trace.json", "Permission denied", "Choose a folder"});
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
}

TEST_F(Saving, AResultOfNothingIsRefused) {
  const ProfilerResult nothing;
  expectWords(refusal([&] { nothing.save(folder_ / "trace.json"); }), {"of no session", "disableProfiler()"});
  EXPECT_TRUE(nothing.events().empty());
  EXPECT_TRUE(nothing.event_tree().empty());
  EXPECT_EQ(nothing.trace_start_ns(), 0);
  EXPECT_EQ(nothing.ledger().attempted, 0u);
  EXPECT_TRUE(nothing.complete());
}

TEST(Toggling, WhileIdleIsRefused) {
  expectWords(refusal([] { toggleCollectionDynamic(false, kCpu); }), {"no profiler is on", "enableProfiler()"});
  expectUsable();
}

TEST(Toggling, WhatIsNotCollectedWarnsAndDoesNothing) {
  enableProfiler(kineto(), kCpu);
  {
    const Warnings warnings;
    toggleCollectionDynamic(false, {ActivityType::CUDA});
    ASSERT_EQ(warnings.count(), 1u);
    expectWords(warnings.all()[0], {"CUDA", "nothing to toggle"});
  }
  toggleCollectionDynamic(false, {});
  scopeCalled("recorded");
  EXPECT_EQ(names(*disableProfiler()), Names{"recorded"});
}

TEST(Metadata, ThatIsNotJsonIsRefused) {
  enableProfiler(kineto(), kCpu);
  for (const char* const text : {"", "text", "{", "{\"a\": }", "[1,]", "1 2", "NaN", "'a'", "\"a", "\"a\nb\"", "01", "{\"a\" 1}"}) {
    expectWords(refusal([&] { addMetadataJson("key of mine", text); }), {"key of mine", "not JSON", text, "Quote texts"});
  }
  addMetadataJson("whole", R"({"a": [1, 2.5e-3, null, true, "\u0007 größe"]})");
  addMetadataJson("text", "\"quoted\"");
  addMetadataJson("text", "\"the last one counts\"");
  const auto result = disableProfiler();
  const Folder folder;
  result->save(folder / "trace.json");
  const parsed::Json trace = parsed::jsonFile(folder / "trace.json");
  EXPECT_EQ(trace["whole"]["a"].items.at(4).text, "\a größe");
  EXPECT_EQ(trace["text"].text, "the last one counts");
  EXPECT_FALSE(trace.has("key of mine"));
}

TEST(Metadata, TooLongToKeepIsRefused) {
  enableProfiler(kineto(), kCpu);
  const std::string long_text = '"' + std::string(100000, 'x') + '"';
  expectWords(refusal([&] { addMetadataJson("key", long_text); }), {"bytes", "Split it"});
  disableProfiler();
}

TEST(Metadata, WhileIdleIsWarnedAbout) {
  const Warnings warnings;
  addMetadataJson("key", "1");
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"not initialized", "skipping"});
}

TEST(Steps, AreCountedIntoTheTrace) {
  profilerStep();
  const Folder folder;
  profile([] {
    for (int i = 0; i < 3; ++i) profilerStep();
  })->save(folder / "trace.json");
  EXPECT_EQ(parsed::jsonFile(folder / "trace.json")["iterations"].number, 3);
}

}  // namespace
}  // namespace xsigma::profiler
