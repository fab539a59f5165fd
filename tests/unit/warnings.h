// Catches what the library says while it lives.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "xsigma/profiler/log.h"

namespace xsigma::profiler {

class Warnings {
 public:
  Warnings() {
    lines().clear();
    setLogSink([](LogLevel level, const char* message) {
      const std::lock_guard lock(mutex());
      if (level == LogLevel::warning) lines().emplace_back(message);
    });
  }
  ~Warnings() { setLogSink(nullptr); }

  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex());
    return lines();
  }
  size_t count() const { return all().size(); }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::vector<std::string>& lines() {
    static std::vector<std::string> all_lines;
    return all_lines;
  }
};

}  // namespace xsigma::profiler
