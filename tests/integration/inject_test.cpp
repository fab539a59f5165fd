// libxsp_inject.so in programs that know nothing of it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "typed_xsp.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler {
namespace {

using test::contains;
using test::contents;

constexpr int kKilled = 128;  // and the signal

struct Ended {
  int status = -1;
  std::string out;
  std::string err;
  double seconds = 0;
};

class Inject : public test::XspFolder {
 protected:
  // Runs a shell's line in the folder of this test.
  Ended runLine(const std::string& line) const {
    const auto begun = std::chrono::steady_clock::now();
    const int status = std::system(
        ("cd " + folder_ + " && exec timeout -s KILL 30 env -u XSIGMA_PROFILER_FILE -u CUDA_INJECTION64_PATH " + line + " > out 2> err")
            .c_str());
    Ended ended;
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
    ended.out = contents(folder_ + "/out");
    ended.err = contents(folder_ + "/err");
    ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return ended;
  }
  Ended preloaded(const std::string& mode, const std::string& end, const std::string& environment = "",
                  const char* program = PROGRAM) const {
    return runLine(environment + " LD_PRELOAD=" INJECT " " + program + " '" + mode + "' '" + end + "'");
  }
  Ended injected(const std::string& end) const { return runLine("CUDA_INJECTION64_PATH=" INJECT " " PROGRAM " cuda '" + end + "'"); }

  std::vector<std::string> captures() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".xst") found.push_back(entry.path());
    }
    return found;
  }
  // The only one there is.
  Capture capture() const {
    const std::vector<std::string> all = captures();
    if (all.size() != 1) throw ProfilerError("captures: " + std::to_string(all.size()));
    EXPECT_EQ(test::xsp("verify " + all[0]).exit_code, 0);
    return openCapture(all[0]).value();
  }
};

TEST_F(Inject, ShowsItsEntryPointsAndNothingElse) {
  FILE* const pipe = popen(NM " -D --defined-only " INJECT, "r");
  char line[512];
  std::set<std::string> names;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::istringstream words(line);
    std::string address, kind, name;
    words >> address >> kind >> name;
    names.insert(name);
  }
  pclose(pipe);
  EXPECT_EQ(names, (std::set<std::string>{"InitializeInjection", "_exit", "_Exit"}));
}

struct Way {
  const char* end;
  int status;
  bool closed;  // the capture was stopped in good order
};
class Ends : public Inject, public testing::WithParamInterface<Way> {};

TEST_P(Ends, APreloadedProgramLeavesACaptureAndEndsAsItWould) {
  const Ended ended = preloaded("cuda", GetParam().end);
  EXPECT_EQ(ended.status, GetParam().status) << ended.err;
  EXPECT_EQ(ended.out, "program\n");
  EXPECT_EQ(capture().info().closed, GetParam().closed);
  EXPECT_EQ(contains(ended.err, captures()[0]), GetParam().closed) << ended.err;
}

TEST_P(Ends, AProgramThatNeverUsesCudaLeavesAnEmptyCaptureAndEndsAsItWould) {
  const Ended ended = preloaded("plain", GetParam().end);
  EXPECT_EQ(ended.status, GetParam().status) << ended.err;
  EXPECT_EQ(ended.out, "program\n");
  EXPECT_EQ(capture().ledger().attempted, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Ends,
                         testing::Values(Way{"return", 3, true}, Way{"exit", 3, true}, Way{"_exit", 3, true}, Way{"_Exit", 3, true},
                                         Way{"quick_exit", 3, true}, Way{"thread", 3, true}, Way{"abort", kKilled + SIGABRT, false},
                                         Way{"crash", kKilled + SIGSEGV, false}, Way{"kill", kKilled + SIGKILL, false}),
                         [](const auto& way) { return std::string(way.param.end[0] == '_' ? "with" : "") + way.param.end; });

TEST_F(Inject, TheDriversWayInNeedsNoPreloading) {
  const Ended ended = injected("return");
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.out, "program\n");
  EXPECT_TRUE(capture().info().closed);
}

TEST_F(Inject, ExitWithoutHandlersIsLikeAKillThereAndTheCaptureOpensAllTheSame) {
  const Ended ended = injected("_exit");
  EXPECT_EQ(ended.status, 3);
  EXPECT_FALSE(capture().info().closed);
}

TEST_F(Inject, AHandlerThatInterruptedTheAllocatorMayEndTheProgram) {
  for (int i = 0; i < 3; ++i) {
    const Ended ended = preloaded("cuda", "handler");
    EXPECT_EQ(ended.status, 4);
    EXPECT_LT(ended.seconds, 15.0);
    capture();
    std::filesystem::remove(captures()[0]);
  }
}

TEST_F(Inject, AForkedChildIsNotInTheCaptureAndDoesNotEndIt) {
  for (const char* const end : {"fork", "fork with handlers", "vfork"}) {
    const Ended ended = preloaded("cuda", end);
    EXPECT_EQ(ended.status, 6) << end;
    EXPECT_EQ(ended.out, "program\n");
    const CaptureInfo info = capture().info();
    EXPECT_TRUE(info.closed) << end;
    EXPECT_GE(info.stop_monotonic_ns - info.start_monotonic_ns, 150'000'000) << end;
    EXPECT_LT(ended.seconds, 1.9) << end << ": the child waited for what only the parent has";
    std::filesystem::remove(captures()[0]);
  }
}

TEST_F(Inject, AForkedChildThatIsTheFirstToUseCudaHasACaptureOfItsOwn) {
  const Ended ended = preloaded("plain", "child uses cuda");
  EXPECT_EQ(ended.status, 6);
  EXPECT_EQ(captures().size(), 2u);  // the parent's is empty
  for (const std::string& each : captures()) EXPECT_EQ(test::xsp("verify " + each).exit_code, 0);
}

TEST_F(Inject, AProgramThatIsRunByItHasACaptureOfItsOwn) {
  const Ended ended = preloaded("cuda", "exec");
  EXPECT_EQ(ended.status, 9);
  EXPECT_EQ(ended.out, "program\nprogram\n");
  ASSERT_EQ(captures().size(), 2u);
  for (const std::string& each : captures()) EXPECT_TRUE(openCapture(each)->info().closed);
}

TEST_F(Inject, ProgramsThatDoNotUseCudaLeaveNothingWhereAnotherOneRunsThem) {
  for (const char* const shell : {"sh", "bash"}) {  // which has an environment of its own making
    const Ended ended =
        runLine(std::string("LD_PRELOAD=" INJECT " ") + shell + " -c '" PROGRAM " plain return; " PROGRAM " cuda return; true'");
    EXPECT_EQ(ended.out, "program\nprogram\n");
    EXPECT_EQ(captures().size(), 2u) << shell;  // of the shell, and of the one that does
    for (const std::string& each : captures()) std::filesystem::remove(each);
  }
}

TEST_F(Inject, TheMessageSaysThatNothingWasHeard) {
  EXPECT_TRUE(contains(preloaded("plain", "return").err, "nothing was heard of injected_program")) << contents(folder_ + "/err");
  EXPECT_TRUE(contains(preloaded("cuda", "return").err, "nothing was heard of injected_program")) << contents(folder_ + "/err");
}

TEST_F(Inject, ItIsSilentWhereThatIsAskedFor) {
  EXPECT_EQ(preloaded("cuda", "return", "XSP_QUIET=1").err, "");
  EXPECT_EQ(preloaded("plain", "return", "XSP_QUIET=1").err, "");
}

TEST_F(Inject, TheFileIsNamedByProcessAndMachine) {
  preloaded("cuda", "return", "XSIGMA_PROFILER_FILE=run_%h_%p_100%%.xst");
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string expected = "run_" + std::string(host) + "_" + std::to_string(capture().info().process_id) + "_100%.xst";
  EXPECT_EQ(std::filesystem::path(captures()[0]).filename(), expected);
}

TEST_F(Inject, CapAndPolicyAreThoseOfTheEnvironment) {
  preloaded("cuda", "return", "XSIGMA_PROFILER_CAP=16M XSIGMA_PROFILER_POLICY=ring");
  EXPECT_EQ(capture().info().policy, CapturePolicy::ring);
  EXPECT_LE(capture().info().byte_cap, size_t{16} << 20);
}

TEST_F(Inject, AWrongSettingIsSaidAndTheProgramRuns) {
  for (const char* const wrong : {"XSP_CAPTURE_RANGE=some", "XSIGMA_PROFILER_CAP=lots", "XSIGMA_PROFILER_FILE=/no/such/folder/run.xst"}) {
    const Ended ended = preloaded("cuda", "return", wrong);
    EXPECT_EQ(ended.status, 3);
    EXPECT_EQ(ended.out, "program\n");
    EXPECT_TRUE(contains(ended.err, "nothing is recorded: ")) << ended.err;
  }
}

TEST_F(Inject, AnotherToolsInjectionIsLeftInPlace) {
  const Ended ended = preloaded("plain", "return", "CUDA_INJECTION64_PATH=/opt/other/libother.so");
  EXPECT_EQ(ended.status, 3);
  EXPECT_TRUE(capture().info().closed);
}

TEST_F(Inject, AnEmptyVariableIsLikeNone) {
  EXPECT_EQ(preloaded("cuda", "return", "CUDA_INJECTION64_PATH= XSIGMA_PROFILER_FILE=").status, 3);
  EXPECT_TRUE(capture().info().closed);
}

TEST_F(Inject, AProgramWithTheLibraryInsideKeepsItsOwnRecording) {
  for (const char* const mode : {"cuda first", "cuda"}) {
    const Ended ended = preloaded(mode, "return", "XSIGMA_PROFILER_FILE=run.xst", PROGRAM_WITH_LIBRARY);
    EXPECT_EQ(ended.status, 3) << ended.err;
    std::multiset<uint64_t> recorded;
    for (const std::string& each : captures()) {
      EXPECT_EQ(test::xsp("verify " + each).exit_code, 0);
      recorded.insert(openCapture(each)->ledger().recorded);
      std::filesystem::remove(each);
    }
    EXPECT_EQ(recorded, (std::multiset<uint64_t>{0, 10})) << mode;  // ours heard nothing; the program's is the program's
  }
}

}  // namespace
}  // namespace xsigma::profiler
