// What a device did in a program that knows nothing of the profiler, in its capture however the program ends.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "typed_xsp.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler {
namespace {

using libkineto::ActivityType;

constexpr uint64_t kKernels = 55;    // in the recording
constexpr uint64_t kTransfers = 14;  // copies and fills

class InjectCuda : public test::XspFolder {
 protected:
  int run(const std::string& arguments, const std::string& way = "LD_PRELOAD", const std::string& environment = "") const {
    const int status =
        std::system(("cd " + folder_ + " && exec timeout -s KILL 60 env -u CUDA_INJECTION64_PATH XSIGMA_PROFILER_FILE=" + path_ + " " +
                     environment + " " + way + "=" INJECT " " PROGRAM " " + arguments + " > out 2> err")
                        .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  uint64_t recorded(ActivityType type) const {
    uint64_t count = 0;
    assembleTrace(openCapture(path_).value())->forEachBatch([&](EventBatch& batch) {
      for (const TraceEvent& event : batch.events) count += event.type == type;
    });
    return count;
  }
  std::string said() const { return test::contents(folder_ + "/err"); }
};

TEST_F(InjectCuda, EveryKernelIsThereAtTheEndAndTheLineSaysHowMany) {
  for (const char* const way : {"LD_PRELOAD", "CUDA_INJECTION64_PATH"}) {
    EXPECT_EQ(run("return", way), 3);
    EXPECT_EQ(recorded(ActivityType::CONCURRENT_KERNEL), kKernels) << way << ": " << said();
    EXPECT_EQ(recorded(ActivityType::GPU_MEMCPY) + recorded(ActivityType::GPU_MEMSET), kTransfers);
    EXPECT_TRUE(test::contains(said(), "55 kernels and 14 copies and fills of injected_cuda_program")) << said();
    EXPECT_EQ(test::contents(folder_ + "/out"), "");
    std::filesystem::remove(path_);
  }
}

TEST_F(InjectCuda, EveryKernelIsThereWhereAPreloadedProgramLeavesWithoutHandlers) {
  EXPECT_EQ(run("_exit"), 3);
  EXPECT_EQ(recorded(ActivityType::CONCURRENT_KERNEL), kKernels) << said();
}

TEST_F(InjectCuda, WhatRanAMomentBeforeAKillIsThere) {
  for (const char* const way : {"LD_PRELOAD", "CUDA_INJECTION64_PATH"}) {
    EXPECT_EQ(run("kill", way), 128 + SIGKILL);
    EXPECT_EQ(recorded(ActivityType::CONCURRENT_KERNEL), kKernels) << way;
    EXPECT_EQ(run("abort", way), 128 + SIGABRT);
    EXPECT_EQ(recorded(ActivityType::CONCURRENT_KERNEL), kKernels) << way;
  }
}

TEST_F(InjectCuda, OnlyWhatLiesBetweenTheProgramsMarksIsThereWhereThatIsAskedFor) {
  EXPECT_EQ(run("return marks", "CUDA_INJECTION64_PATH", "XSP_CAPTURE_RANGE=api"), 3);
  EXPECT_EQ(recorded(ActivityType::CONCURRENT_KERNEL), kKernels) << said();
  EXPECT_EQ(run("return marks", "CUDA_INJECTION64_PATH"), 3);
  EXPECT_EQ(recorded(ActivityType::CONCURRENT_KERNEL), 3 * kKernels) << said();
}

}  // namespace
}  // namespace xsigma::profiler
