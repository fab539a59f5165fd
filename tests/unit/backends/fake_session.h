// Sessions that watch the simulated device.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../parsed_json.h"
#include "../profiled.h"
#include "backends/fake/fake_device.h"

namespace xsigma::profiler::profiled {

inline const std::set<ActivityType> kCpuAndDevice{ActivityType::CPU, ActivityType::CUDA};

class FakeSession : public testing::Test {
 protected:
  void SetUp() override { setenv("XSIGMA_PROFILER_BACKENDS", "fake", 1); }
  void TearDown() override {
    unsetenv("XSIGMA_PROFILER_BACKENDS");
    device.setRoom(SIZE_MAX);
    device.setHurry(false);
    device.setLate(false);
    device.setStart({});
    device.setBeforeFetch({});
    device.setDrift(0);
    device.setLatency(std::chrono::microseconds(2));
  }

  template <typename Body>
  static std::unique_ptr<ProfilerResult> profileDevice(Body body, const ProfilerConfig& config = kineto()) {
    enableProfiler(config, kCpuAndDevice);
    body();
    return disableProfiler();
  }
  static parsed::Json saved(ProfilerResult& result) {
    const Folder folder;
    result.save(folder / "trace.json");
    return parsed::jsonFile(folder / "trace.json");
  }
  // The complete events of a category, by name; of several with one name the last.
  static std::map<std::string, parsed::Json> slices(const parsed::Json& trace, std::string_view category) {
    std::map<std::string, parsed::Json> found;
    for (const parsed::Json& event : trace["traceEvents"].items) {
      if (event["ph"].text == "X" && event["cat"].text == category) found[event["name"].text] = event;
    }
    return found;
  }

  backends::fake::FakeDevice& device = backends::fake::FakeDevice::get();
};

}  // namespace xsigma::profiler::profiled
