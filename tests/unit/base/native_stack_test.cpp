// What is recorded of a stack: which frames, in which order, how many.
#include "base/native_stack.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/loaded_modules.h"

using namespace xsigma::profiler::base;

namespace {

using Frames = std::vector<uint64_t>;

// The assembly keeps the calls from being tail calls.
[[gnu::noinline]] Frames captureHere(size_t most, unsigned skip) {
  Frames frames(100, 0);
  frames.resize(captureStack(frames.data(), most, skip));
  asm volatile("" ::: "memory");
  return frames;
}

[[gnu::noinline]] Frames captureBelow(int calls, size_t most, unsigned skip) {
  Frames frames = calls > 1 ? captureBelow(calls - 1, most, skip) : captureHere(most, skip);
  asm volatile("" : : "r"(calls) : "memory");
  return frames;
}

struct Seen {
  uint64_t return_address = 0;
  Frames frames;
};

[[gnu::noinline]] Seen captureWithReturnAddress(unsigned skip) {
  Seen seen{reinterpret_cast<uint64_t>(__builtin_return_address(0)), Frames(kMostStackFrames, 0)};
  seen.frames.resize(captureStack(seen.frames.data(), seen.frames.size(), skip));
  asm volatile("" ::: "memory");
  return seen;
}

uint64_t mostSame(const Frames& frames) {
  size_t most = 0;
  for (const uint64_t frame : frames) most = std::max<size_t>(most, std::count(frames.begin(), frames.end(), frame));
  return most;
}

}  // namespace

TEST(NativeStack, BeginsInTheCallerAndGoesOnWhereThatReturnsTo) {
  const Seen all = captureWithReturnAddress(0);
  ASSERT_GE(all.frames.size(), 3U);
  const auto start = reinterpret_cast<uint64_t>(&captureWithReturnAddress);
  EXPECT_GT(all.frames[0], start);
  EXPECT_LT(all.frames[0], start + 4096);
  EXPECT_EQ(all.frames[1], all.return_address);
}

TEST(NativeStack, SkipLeavesOutInnermostCalls) {
  const Frames all = captureBelow(5, kMostStackFrames, 0);
  const Frames fewer = captureBelow(5, kMostStackFrames, 3);
  ASSERT_GT(all.size(), 8U);
  // This function calls from two places, which is frame 6.
  ASSERT_EQ(fewer.size(), all.size() - 3);
  EXPECT_TRUE(std::equal(all.begin() + 3, all.begin() + 6, fewer.begin()));
  EXPECT_TRUE(std::equal(all.begin() + 7, all.end(), fewer.begin() + 4));
  EXPECT_TRUE(captureBelow(5, kMostStackFrames, 100000).empty());
}

TEST(NativeStack, RecursionIsAsDeepAsItIs) {
  const Frames shallow = captureBelow(10, kMostStackFrames, 0);
  const Frames deep = captureBelow(30, kMostStackFrames, 0);
  EXPECT_EQ(deep.size(), shallow.size() + 20);
  EXPECT_EQ(mostSame(deep), 29U);
}

TEST(NativeStack, DeepStacksAreCutAtTheirOuterEnd) {
  const Frames frames = captureBelow(200, 100, 0);
  EXPECT_EQ(frames.size(), 64U);
  EXPECT_EQ(mostSame(frames), 62U);
  EXPECT_EQ(captureBelow(200, 7, 0), Frames(frames.begin(), frames.begin() + 7));
}

TEST(NativeStack, WritesNoMoreThanAskedFor) {
  uint64_t frames[4] = {1, 1, 1, 1};
  EXPECT_EQ(captureStack(frames, 0, 0), 0U);
  EXPECT_EQ(frames[0], 1U);
  EXPECT_EQ(captureStack(frames, 2, 0), 2U);
  EXPECT_NE(frames[1], 1U);
  EXPECT_EQ(frames[2], 1U);
}

TEST(NativeStack, EndsWhereTheThreadBegan) {
  Frames frames;
  std::thread([&] { frames = captureHere(kMostStackFrames, 0); }).join();
  EXPECT_GE(frames.size(), 3U);
  EXPECT_LT(frames.size(), 30U);
}

namespace {

uint64_t handler_frames[kMostStackFrames];
size_t handler_count = 0;

void captureInHandler(int) { handler_count = captureStack(handler_frames, kMostStackFrames, 0); }

}  // namespace

TEST(NativeStack, GoesOnFromASignalHandlerIntoWhatItInterrupted) {
  prepareStackCapture();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = captureInHandler;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  const Frames outside = captureBelow(1, kMostStackFrames, 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  const Frames inside(handler_frames, handler_frames + handler_count);
  // Whoever called this test is on both stacks: after captureHere, captureBelow and the test itself.
  ASSERT_GT(outside.size(), 3U);
  EXPECT_NE(std::search(inside.begin(), inside.end(), outside.begin() + 3, outside.end()), inside.end());
}

#if __GLIBC_PREREQ(2, 35)
TEST(NativeStack, DoesNotWaitForTheLoader) {
  prepareStackCapture();
  struct Loader {
    static int hold(dl_phdr_info*, size_t, void* result) {
      auto captured = std::async(std::launch::async, [] { return captureHere(kMostStackFrames, 0).size(); });
      const bool done = captured.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
      *static_cast<size_t*>(result) = done ? captured.get() : 0;
      if (!done) new std::future<size_t>(std::move(captured));  // it ends once we let go of the loader
      return 1;
    }
  };
  size_t frames = 0;
  dl_iterate_phdr(Loader::hold, &frames);
  EXPECT_GE(frames, 3U);
}
#endif

TEST(LoadedModules, NameTheProgramTheKernelsAndTheLibraries) {
  const std::vector<LoadedModule> modules = loadedModules();
  const auto holder = [&](uint64_t address) {
    const auto found = std::find_if(modules.begin(), modules.end(), [&](const auto& m) { return address >= m.start && address < m.end; });
    return found != modules.end() ? found->path : std::string("none");
  };
  EXPECT_EQ(holder(reinterpret_cast<uint64_t>(&captureHere)), std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_NE(holder(reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "getpid"))).find("libc"), std::string::npos);
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  EXPECT_EQ(holder(vdso), vdso != 0 ? "[vdso]" : "none");
  for (const LoadedModule& module : modules) {
    EXPECT_LT(module.start, module.end) << module.path;
    EXPECT_TRUE(module.path[0] == '/' || module.path == "[vdso]") << module.path;
    EXPECT_EQ(module.build_id.find_first_not_of("0123456789abcdef"), std::string::npos) << module.path;
  }
}

TEST(LoadedModules, BuildIdIsFoundBehindAnotherNote) {
  // .note.gnu.property is such a note: aligned to 8.
  const unsigned char notes[] = {4, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0,   1,   2, 3,    0,    0,    0,
                                 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0,   0,   'G', 'N', 'U', 0, 0xAB, 0x01, 0xF0, 0};
  EXPECT_EQ(buildIdAmong(notes, sizeof notes, 8), "ab01f0");
  for (size_t cut = 0; cut < sizeof notes - 1; ++cut) {
    const std::vector<unsigned char> part(notes, notes + cut);
    EXPECT_EQ(buildIdAmong(part.data(), part.size(), 8), "") << cut;
  }
  const unsigned char endless[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 3, 0, 0, 0, 'G', 'N', 'U', 0};
  EXPECT_EQ(buildIdAmong(endless, sizeof endless, 4), "");
}
