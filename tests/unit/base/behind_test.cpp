// Work behind the program's back: a program that ends waits for its own, and for no other's.
#include "base/behind.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "../../integration/child_process.h"

namespace xsigma::profiler::base {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(Behind, AProgramThatEndsWaitsForIt) {
  const test::Shared<std::atomic<bool>> done;
  const int status = test::runInChild([&]() -> int {
    runBehind([&] {
      std::this_thread::sleep_for(200ms);
      *done = true;
    });
    std::exit(0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(*done);
}

TEST(Behind, AForkedChildDoesNotWaitForWhatItsParentRuns) {
  std::atomic<bool> release{false};
  std::atomic<bool> ended{false};
  runBehind([&] {
    while (!release) std::this_thread::sleep_for(1ms);
    ended = true;
  });
  const auto before = steady_clock::now();
  EXPECT_EQ(test::runInChild([]() -> int { std::exit(0); }), 0) << "one with nothing of its own";
  const test::Shared<std::atomic<bool>> ran;
  EXPECT_EQ(test::runInChild([&]() -> int {
              runBehind([&] { *ran = true; });
              std::exit(0);
            }),
            0)
      << "one that has some itself";
  EXPECT_TRUE(*ran);
  EXPECT_LT(steady_clock::now() - before, 4s);
  release = true;
  while (!ended) std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace xsigma::profiler::base
