// What on_trace_ready can be, and what becomes of one that throws.
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>
#include <stdexcept>
#include <string>

#include "../parsed_json.h"
#include "../warnings.h"
#include "profile_steps.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;

size_t steps(const std::string& path) {
  const parsed::Json trace = parsed::jsonFile(path);
  size_t found = 0;
  for (const parsed::Json& each : trace["traceEvents"].items) found += each["name"].text.rfind("ProfilerStep#", 0) == 0 ? 1u : 0u;
  return found;
}

TEST(AChromeHandler, WritesOneFilePerCycle) {
  const Folder folder;
  Profile profile(scheduled(byText("SNRSNRRS"), chromeTraceHandler(folder / "trace.json")));
  runSteps(profile, 9);
  EXPECT_EQ(folder.files(), (Names{"trace.2.json", "trace.3.json", "trace.json"}));
  EXPECT_EQ(steps(folder / "trace.json"), 1u);
  EXPECT_EQ(steps(folder / "trace.2.json"), 2u);
  EXPECT_EQ(steps(folder / "trace.3.json"), 3u);
}

TEST(AChromeHandler, PutsNumbersWhereThePathAsksForThem) {
  const Folder folder;
  Profile profile(scheduled(byText("SNS"), chromeTraceHandler(folder / "c{cycle}_at{step}.json")));
  runSteps(profile, 3);
  EXPECT_EQ(folder.files(), (Names{"c1_at1.json", "c2_at3.json"}));
}

TEST(AChromeHandler, KeepsEndingsWhereTheyAre) {
  const Folder folder;
  std::filesystem::create_directory(folder / "a.b");
  for (const char* const name : {"t.json.gz", "a.b/bare"}) {
    Profile profile(scheduled(byText("SS"), chromeTraceHandler(folder / name)));
    runSteps(profile, 2);
    EXPECT_EQ(profile.lastHandlerError(), "");
  }
  EXPECT_EQ(folder.files(), (Names{"a.b", "t.2.json.gz", "t.json.gz"}));
  EXPECT_EQ(contents(folder / "t.2.json.gz").substr(0, 2), "\x1f\x8b");
  EXPECT_TRUE(std::filesystem::exists(folder / "a.b/bare"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a.b/bare.2"));
}

TEST(AChromeHandler, RefusesNamesThatAreNone) {
  expectWords(refusal([] { chromeTraceHandler(""); }), {"chromeTraceHandler", "empty"});
  const Folder folder;
  const Warnings warnings;
  Profile profile(scheduled(byText("S"), chromeTraceHandler(folder / "trace.xst")));
  runSteps(profile, 1);
  expectWords(profile.lastHandlerError(), {"trace.xst", "save()"});
  profile.save(folder / "trace.xst");
  EXPECT_EQ(openCapture(folder / "trace.xst").value().ledger().recorded, 2u);
}

TEST(ATensorBoardHandler, CreatesItsFolderAndNamesFilesByHostProcessAndTime) {
  const Folder folder;
  const int64_t before = wallNs();
  Profile profile(scheduled(byText("SNS"), tensorboardTraceHandler(folder / "logs/run")));
  runSteps(profile, 3);
  const std::regex name("(.+)_" + std::to_string(getpid()) + R"(\.(\d{19})\.pt\.trace\.json)");
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder / "logs/run")) {
    const std::string file = each.path().filename();
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(file, parts, name)) << file;
    EXPECT_EQ(parts[1], host);
    EXPECT_GE(std::stoll(parts[2]), before);
    EXPECT_LE(std::stoll(parts[2]), wallNs());
    EXPECT_EQ(steps(each.path()), 1u);
    ++files;
  }
  EXPECT_EQ(files, 2u);
}

TEST(ATensorBoardHandler, TakesAWorkersNameAndCompresses) {
  const Folder folder;
  Profile profile(scheduled(byText("S"), tensorboardTraceHandler(folder.path(), "worker 7", true)));
  runSteps(profile, 1);
  ASSERT_EQ(folder.files().size(), 1u);
  EXPECT_TRUE(std::regex_match(folder.files()[0], std::regex(R"(worker 7\.\d{19}\.pt\.trace\.json\.gz)"))) << folder.files()[0];
  EXPECT_EQ(contents(folder / folder.files()[0]).substr(0, 2), "\x1f\x8b");
}

TEST(ATensorBoardHandler, RefusesWhatCannotBeAName) {
  expectWords(refusal([] { tensorboardTraceHandler(""); }), {"tensorboardTraceHandler", "empty"});
  expectWords(refusal([] { tensorboardTraceHandler("logs", "a/b"); }), {"'a/b'", "slash"});
  const Folder folder;
  const Warnings warnings;
  std::ofstream(folder / "file") << "not a folder";
  Profile profile(scheduled(byText("S"), tensorboardTraceHandler(folder / "file")));
  runSteps(profile, 1);
  expectWords(profile.lastHandlerError(), {folder / "file", "cannot create the folder"});
}

TEST(AHandlerThatThrows, IsReportedAndTheProfileGoesOn) {
  const Warnings warnings;
  size_t calls = 0;
  Profile profile(scheduled(byText("SRSNS"), [&](Profile& ready) {
    ++calls;
    if (calls < 4) {
      EXPECT_EQ(ready.lastHandlerError(), calls == 1 ? "" : "disk 1 is full");
    }
    if (calls == 1) throw std::runtime_error("disk 1 is full");
    if (calls == 3) throw 3;
  }));
  runSteps(profile, 5);
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ(profile.lastHandlerError(), "something that is no std::exception");
  ASSERT_EQ(warnings.count(), 2u);
  expectWords(warnings.all()[0], {"on_trace_ready", "disk 1 is full", "goes on"});
  EXPECT_EQ(names(*profile.result()), (Names{"ProfilerStep#4", "work 4"}));
  EXPECT_FALSE(profile.running());
  runSteps(profile, 0);
  EXPECT_EQ(calls, 4u) << "it can be used again";
}

TEST(AHandlerThatThrows, InTheLastCycleDoesNotKeepTheProfileFromStopping) {
  const Warnings warnings;
  {
    Profile profile(scheduled(byText("R"), [](Profile&) { throw std::runtime_error("no"); }));
    profile.start();
    profile.stop();
    EXPECT_FALSE(profile.running());
    EXPECT_EQ(names(*profile.result()), Names{"ProfilerStep#0"});
  }
  EXPECT_EQ(warnings.count(), 1u);
  expectUsable();
}

TEST(AHandler, CannotSteerTheProfileThatCallsIt) {
  const Warnings warnings;
  std::string said;
  Profile profile(scheduled(byText("SS"), [&](Profile& ready) {
    said += refusal([&] { ready.start(); }) + refusal([&] { ready.step(); }) + refusal([&] { ready.stop(); });
  }));
  runSteps(profile, 2);
  expectWords(said, {"Profile::start()", "Profile::step()", "Profile::stop()", "on_trace_ready"});
  EXPECT_EQ(profile.cycle(), 2);
}

}  // namespace
}  // namespace xsigma::profiler
