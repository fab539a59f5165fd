// The backend for CUDA, with the stand-in below it and an output that keeps everything above.
#pragma once

#include <cupti_activity.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "kept_output.h"
#include "recording.h"
#include "standin.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::testing {

class WatchedCupti : public ::testing::Test {
 protected:
  using Type = libkineto::ActivityType;

  void SetUp() override {
    std::string why;
    ASSERT_TRUE(standin::load(XSIGMA_TEST_RECORDING, &why)) << why;
    for (Backend* candidate : allBackends()) {
      if (candidate->name() == "cupti") backend = candidate;
    }
    ASSERT_NE(backend, nullptr);
    request.activities = {Type::CONCURRENT_KERNEL, Type::GPU_MEMCPY, Type::GPU_MEMSET, Type::CUDA_RUNTIME,
                          Type::CUDA_DRIVER,       Type::CUDA_SYNC,  Type::CUDA_EVENT, Type::OVERHEAD};
    request.memory = true;
    request.process_id = getpid();
    request.host_ticks = []() noexcept { return ticks; };
  }

  void start() {
    Expected<std::unique_ptr<BackendRun>> started = backend->start(request, output);
    ASSERT_TRUE(started) << started.message();
    run = *std::move(started);
    waitForStreams();
  }
  // They are asked for on another thread, which a run does not wait for long.
  static void waitForStreams() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!standin::behaviour().dump_kept_out && standin::seen().enabled_kinds.count(CUPTI_ACTIVITY_KIND_STREAM) == 0 &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // False: the deadline came first.
  bool finish(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    run->stop();
    const bool drained = run->drain(std::chrono::steady_clock::now() + patience);
    run.reset();
    return drained;
  }
  void watch(const standin::Play& play = {}) {
    start();
    if (HasFatalFailure()) return;
    standin::play(play);
    EXPECT_TRUE(finish());
  }

  // What the recorded program counted.
  static int64_t counted(const std::string& what) {
    const auto numbers = standin::numbersOf(standin::expectedJson());
    const auto found = numbers.find(what);
    EXPECT_NE(found, numbers.end()) << what;
    return found == numbers.end() ? -1 : found->second;
  }

  static inline uint64_t ticks = 1;
  Backend* backend = nullptr;
  BackendRequest request;
  std::shared_ptr<KeptOutput> output = std::make_shared<KeptOutput>();
  std::unique_ptr<BackendRun> run;
};

}  // namespace xsigma::profiler::testing
