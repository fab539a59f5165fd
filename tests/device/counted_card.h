// Sessions with hardware counters on a card, through the public calls.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <xsigma/profiler/profiler.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "../unit/parsed_json.h"
#include "ptx_card.h"

namespace counted_card {

using namespace xsigma::profiler;
using parsed::Json;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline const std::vector<std::string> kBlocks{"sm__ctas_launched.sum"};

inline bool hasCard() {
  int count = 0;
  const ptx_card::Driver* const driver = ptx_card::driver();
  return driver != nullptr && driver->cuInit(0) == CUDA_SUCCESS && driver->cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
}

inline double secondsSince(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// A session that is over, as its trace tells it.
struct Recorded {
  Json trace;
  Ledger ledger;

  std::vector<Json> events(std::string_view phase, std::string_view category) const {
    std::vector<Json> found;
    for (const Json& event : trace["traceEvents"].items) {
      if (event["ph"].text == phase && (category.empty() || event["cat"].text == category)) found.push_back(event);
    }
    return found;
  }
  std::vector<Json> ranges() const { return events("X", "cuda_profiler_range"); }
  std::vector<Json> kernels() const { return events("X", "kernel"); }
  // Values of a metric, by time.
  std::vector<std::pair<double, double>> samples(std::string_view metric) const {
    std::vector<std::pair<double, double>> found;
    for (const Json& event : events("C", "")) {
      if (event["name"].text.find(metric) == std::string::npos || event["args"].members.empty()) continue;
      found.emplace_back(event["ts"].number, event["args"].members[0].second.number);
    }
    return found;
  }
};

inline double blocksOf(const Json& range) { return range["args"][kBlocks[0]].number; }

class CountedCard : public testing::Test {
 protected:
  void SetUp() override {
    if (!hasCard()) GTEST_SKIP() << "there is no CUDA device here";
  }

  static ProfilerConfig configOf(std::vector<std::string> metrics, bool per_kernel, microseconds interval = {}) {
    ExperimentalConfig wanted(std::move(metrics), per_kernel);
    wanted.profiler_sample_interval = interval;
    return ProfilerConfig(ProfilerState::KINETO, false, false, false, false, false, wanted);
  }
  // The driver may refuse; then the message must say what to do.
  static bool begin(const ProfilerConfig& config) {
    try {
      enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
      return true;
    } catch (const ProfilerError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos) << message;
      return false;
    }
  }
  static Recorded end() {
    const std::unique_ptr<ProfilerResult> result = disableProfiler();
    const std::string path = (std::filesystem::temp_directory_path() / ("counters." + std::to_string(getpid()) + ".json")).string();
    result->save(path);
    Recorded recorded{parsed::jsonFile(path), result->ledger()};
    std::filesystem::remove(path);
    return recorded;
  }
  // Whether it is refused, with these words.
  static void expectRefused(const ProfilerConfig& config, const std::vector<std::string>& words) {
    try {
      enableProfiler(config, {ActivityType::CPU, ActivityType::CUDA});
      ADD_FAILURE() << "it was accepted";
      (void)disableProfiler();
    } catch (const ProfilerError& error) {
      for (const std::string& word : words) EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
};

#define XSIGMA_COUNT_OR_SKIP(config) \
  if (!begin(config)) GTEST_SKIP() << "the driver keeps the counters to administrators"

}  // namespace counted_card
