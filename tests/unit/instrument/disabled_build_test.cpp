// A source built with XSIGMA_PROFILER_DISABLE: the macros are gone, the rest of the program is recorded as ever.
#ifndef XSIGMA_PROFILER_DISABLE
#error "this file is about builds with XSIGMA_PROFILER_DISABLE"
#endif

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../recorded.h"
#include "xsigma/profiler/profiler.h"
#include "xsigma/profiler/record_macros.h"

namespace xsigma::profiler {
namespace {

int calls = 0;

[[maybe_unused]] std::string nameOf(const char* name) {
  ++calls;
  return name;
}

void everyMacro() {
  XSIGMA_PROFILE_FUNCTION();
  XSIGMA_PROFILE_SCOPE("scope");
  XSIGMA_PROFILE_BLOCK("block");
  XSIGMA_PROFILE_SCOPE_DYNAMIC(nameOf("dynamic"));
  XSIGMA_RECORD_FUNCTION(nameOf("function"), {1, 2}, 3);
  XSIGMA_RECORD_FUNCTION_WITH_SCOPE(RecordScope::CUSTOM_CLASS, "class", {});
  XSIGMA_RECORD_FUNCTION_WITH_INPUTS_OUTPUTS("in and out", {1}, {2});
  XSIGMA_RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(RecordScope::FUNCTION, "all", {1}, {2});
  XSIGMA_RECORD_TORCHSCRIPT_FUNCTION("script", {});
  XSIGMA_RECORD_USER_SCOPE(nameOf("user"));
  XSIGMA_RECORD_USER_SCOPE_WITH_INPUTS("user", {});
  XSIGMA_RECORD_USER_SCOPE_WITH_KWARGS_ONLY("user", KeywordList());
  XSIGMA_RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(RecordScope::FUNCTION, "debug", 1, {});
  XSIGMA_RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS("edge", 1, {});
  XSIGMA_RECORD_OUTPUTS({});
  RECORD_FUNCTION("bare", {});
}

TEST(DisabledBuild, EmitsNothingAndEvaluatesNothing) {
  Recording recording = startRecording().value();
  everyMacro();
  const Capture capture = recording.stop();
  EXPECT_EQ(capture.ledger().attempted, 0u);
  EXPECT_TRUE(recorded::all(capture).empty());
  EXPECT_EQ(calls, 0);
}

TEST(DisabledBuild, StillRecordsWhatIsCalledByName) {
  Recording recording = startRecording().value();
  {
    RecordFunction function;
    function.before("by hand");
  }
  recordInstant("mark");
  const Capture capture = recording.stop();
  EXPECT_EQ(recorded::names(capture), std::vector<std::string>{"by hand"});
  EXPECT_EQ(recorded::all(capture, RecordKind::instant).size(), 1u);
}

}  // namespace
}  // namespace xsigma::profiler
