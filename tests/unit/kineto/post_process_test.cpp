// The callback that has a word in every event's stack and modules before disableProfiler returns.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../profiled.h"
#include "../warnings.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

void program() {
  XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::CUSTOM_CLASS, "Model", {});
  { XSIGMA_RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(RecordScope::FUNCTION, "op", 5, {}); }
  recordInstant("mark");
  char block[8];
  reportMemoryUsage(block, 8, 8, 8);
  spin(std::chrono::milliseconds(1));
  const int64_t now_us = wallNs() / 1000;
  spin(std::chrono::milliseconds(1));
  reportBackendEventToActiveKinetoProfiler(now_us, now_us, 6, RecordScope::FUNCTION, "on the NPU", "NPU");
}

std::unique_ptr<ProfilerResult> processed(post_process_t callback) {
  ProfilerConfig config = kineto();
  config.with_modules = true;
  config.profile_memory = true;
  enableProfilerWithEventPostProcess(config, kCpu, std::move(callback));
  program();
  return disableProfiler();
}

TEST(ThePostProcessCallback, IsCalledOncePerScopeAndBackendEventBeforeDisablingReturns) {
  std::map<int64_t, int> calls;
  const auto result = processed([&](int64_t debug_handle, std::vector<std::string>&, std::vector<std::string>&) { ++calls[debug_handle]; });
  const std::map<int64_t, int> expected{{-1, 1}, {5, 1}, {6, 1}};
  EXPECT_EQ(calls, expected) << "Model, op and the backend's; no marks, no memory";
  EXPECT_EQ(result->events().size(), 5u);
  result->event_tree();
  EXPECT_EQ(calls, expected) << "and never again";
}

TEST(ThePostProcessCallback, SeesAndRewritesStackAndModules) {
  std::vector<std::string> seen_stack;
  std::vector<std::string> seen_modules;
  const auto result = processed([&](int64_t debug_handle, std::vector<std::string>& stack, std::vector<std::string>& modules) {
    if (debug_handle != 5) return;
    seen_stack = stack;
    seen_modules = modules;
    stack = {"inner.py", "outer.py"};
    modules.clear();
  });
  EXPECT_EQ(seen_stack, Names{"Model"});
  EXPECT_EQ(seen_modules, Names{"Model"});
  EXPECT_EQ(event(*result, "op").stack(), (Names{"inner.py", "outer.py"}));
  EXPECT_FALSE(event(*result, "op").hasModuleHierarchy());
  EXPECT_EQ(event(*result, "on the NPU").moduleHierarchy(), Names{"Model"}) << "left as it was";
}

TEST(ThePostProcessCallback, ThatThrowsLeavesTheResultUsable) {
  int calls = 0;
  const Warnings warnings;
  const auto result = processed([&](int64_t, std::vector<std::string>& stack, std::vector<std::string>&) {
    ++calls;
    stack = {"rewritten"};
    if (calls == 2) throw std::runtime_error("no debug info");
  });
  EXPECT_EQ(calls, 2);
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"post-process callback", "no debug info"});
  EXPECT_EQ(event(*result, "Model").stack(), Names{"rewritten"});
  EXPECT_EQ(event(*result, "op").stack(), Names{"Model"}) << "the one that threw stays as it was";
  const Folder folder;
  result->save(folder / "trace.json");
  EXPECT_EQ(folder.files(), Names{"trace.json"});
  EXPECT_FALSE(profilerEnabled());
}

TEST(ThePostProcessCallback, MayThrowWhatIsNoException) {
  const Warnings warnings;
  const auto result = processed([](int64_t, std::vector<std::string>&, std::vector<std::string>&) { throw 7; });
  EXPECT_EQ(warnings.count(), 1u);
  EXPECT_EQ(result->events().size(), 5u);
}

TEST(ThePostProcessCallback, MayProfileItself) {
  int inner = 0;
  const auto result = processed([&](int64_t debug_handle, std::vector<std::string>&, std::vector<std::string>&) {
    if (debug_handle == 5) inner = static_cast<int>(profile([] { scopeCalled("inside the callback"); })->events().size());
  });
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(result->events().size(), 5u);
}

TEST(ThePostProcessCallback, MayBeEmpty) { EXPECT_EQ(processed(nullptr)->events().size(), 5u); }

TEST(ThePostProcessCallback, HearsOnlyOfTheScopesAskedFor) {
  int calls = 0;
  enableProfilerWithEventPostProcess(kineto(), kCpu, [&](int64_t, std::vector<std::string>&, std::vector<std::string>&) { ++calls; },
                                     {RecordScope::CUSTOM_CLASS});
  { XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::CUSTOM_CLASS, "Model", {}); }
  scopeCalled("not asked for");
  disableProfiler();
  EXPECT_EQ(calls, 1);
}

TEST(ThePostProcessCallback, GoesWithItsSession) {
  int calls = 0;
  enableProfilerWithEventPostProcess(kineto(), kCpu, [&](int64_t, std::vector<std::string>&, std::vector<std::string>&) { ++calls; });
  disableProfiler();
  expectUsable();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace xsigma::profiler
