// xsp stats as a user types it.
#include <gtest/gtest.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "typed_xsp.h"

namespace {

using namespace xsigma::profiler;
using test::contains;
using test::contents;
using test::Outcome;
using test::xsp;
namespace fs = std::filesystem;

class XspStats : public test::XspFolder {
 protected:
  void record(int calls, CaptureOptions options = {}) {
    options.path = path_;
    Recording recording = *startRecording(options);
    {
      XSIGMA_PROFILE_SCOPE("outer");
      for (int i = 0; i < calls; ++i) {
        XSIGMA_PROFILE_SCOPE("inner");
      }
      int block = 0;
      reportMemoryUsage(&block, 4096, 4096, 4096);
    }
    recording.stop();
  }
};

TEST_F(XspStats, ShowsATable) {
  record(37);
  const Outcome outcome = xsp("stats " + path_ + " --sort count");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "# of Calls")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "4.00 KB")) << outcome.output;
  EXPECT_LT(outcome.output.find("\ninner "), outcome.output.find("\nouter ")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, " 37\n")) << outcome.output;
}

TEST_F(XspStats, WritesCsvJsonAndStacks) {
  record(5);
  EXPECT_TRUE(contains(xsp("stats " + path_ + " -t csv").output, "\ninner,CPU,true,false,,,,5,0,"));
  EXPECT_TRUE(contains(xsp("stats " + path_ + " -t json --by-thread").output, "\"calls\": 5"));
  const Outcome outcome = xsp("stats " + path_ + " -o " + folder_ + "/a.csv --stacks " + folder_ + "/a.stacks");
  EXPECT_EQ(outcome.output, folder_ + "/a.csv: 2 rows\n");
  EXPECT_TRUE(contains(contents(folder_ + "/a.csv"), "\ninner,CPU"));
  xsp("stats " + path_ + " --sort name -o " + folder_ + "/b.csv");
  EXPECT_LT(contents(folder_ + "/b.csv").find("\ninner"), contents(folder_ + "/b.csv").find("\nouter"));
  EXPECT_TRUE(contains(contents(folder_ + "/a.stacks"), "outer;inner "));
}

TEST_F(XspStats, ShowsMemory) {
  record(1);
  const Outcome outcome = xsp("stats " + path_ + " --memory -o " + folder_ + "/m.html");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "peak of 4.0 KiB")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "in outer")) << outcome.output;
  EXPECT_TRUE(contains(contents(folder_ + "/m.html"), "<html"));
}

TEST_F(XspStats, SaysWhatWasLostByItsExitStatus) {
  CaptureOptions options;
  options.byte_cap = kMinimumByteCap;
  record(100'000, options);
  const Outcome outcome = xsp("stats " + path_);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "scopes were lost")) << outcome.output;
}

TEST_F(XspStats, RefusesWhatItCannotDo) {
  record(1);
  const Outcome sorted = xsp("stats " + path_ + " --sort beauty");
  EXPECT_EQ(sorted.exit_code, 2);
  EXPECT_TRUE(contains(sorted.output, "'beauty'")) << sorted.output;
  EXPECT_EQ(xsp("stats " + folder_ + "/none.xst").exit_code, 2);
  EXPECT_EQ(xsp("stats " + path_ + " -t csv -o " + folder_ + "/a.json").exit_code, 2);
  EXPECT_EQ(xsp("stats " + path_ + " --memory --by-thread").exit_code, 2);
  std::ofstream(folder_ + "/text.xst") << "this is no capture, whatever its name says";
  EXPECT_EQ(xsp("stats " + folder_ + "/text.xst").exit_code, 4);
}

}  // namespace
