// What a session of the profiler gives back, and what it says when it refuses.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::profiled {

using Names = std::vector<std::string>;

inline const std::set<ActivityType> kCpu{ActivityType::CPU};

inline ProfilerConfig kineto() { return ProfilerConfig(ProfilerState::KINETO); }
inline ProfilerConfig allThreads() {
  ProfilerConfig config = kineto();
  config.experimental_config.profile_all_threads = true;
  return config;
}

// What `body` does, profiled.
template <typename Body>
std::unique_ptr<ProfilerResult> profile(Body body, const ProfilerConfig& config = kineto(),
                                        const std::unordered_set<RecordScope>& scopes = {}) {
  enableProfiler(config, kCpu, scopes);
  body();
  return disableProfiler();
}

inline void scopeCalled(std::string_view name) { XSIGMA_PROFILE_SCOPE_DYNAMIC(name); }

// By start.
inline Names names(const ProfilerResult& result) {
  Names found;
  for (const KinetoEvent& each : result.events()) found.push_back(each.name());
  return found;
}

inline size_t count(const ProfilerResult& result, std::string_view name) {
  const Names all = names(result);
  return static_cast<size_t>(std::count(all.begin(), all.end(), name));
}

// The only one of that name; throws, which fails the test, if it is not the only one.
inline KinetoEvent event(const ProfilerResult& result, std::string_view name) {
  std::vector<KinetoEvent> found;
  for (const KinetoEvent& each : result.events()) {
    if (each.name() == name) found.push_back(each);
  }
  if (found.size() != 1) throw std::runtime_error(std::to_string(found.size()) + " events are called '" + std::string(name) + "'");
  return found[0];
}

inline std::shared_ptr<Result> node(const std::vector<std::shared_ptr<Result>>& nodes, std::string_view name) {
  for (const std::shared_ptr<Result>& each : nodes) {
    if (each->name() == name) return each;
    if (const std::shared_ptr<Result> inside = node(each->children_, name)) return inside;
  }
  return nullptr;
}

// The tree as text: a(b(c) d)
inline std::string drawn(const std::vector<std::shared_ptr<Result>>& nodes) {
  std::string text;
  for (const std::shared_ptr<Result>& each : nodes) {
    text += (text.empty() ? "" : " ") + each->name();
    if (!each->children_.empty()) text += "(" + drawn(each->children_) + ")";
  }
  return text;
}

// What `call` says as it throws ProfilerError.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const ProfilerError& error) {
    return error.what();
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

inline void expectWords(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is missing in: " << text;
}

// A session from beginning to end works on this thread.
inline void expectUsable() {
  const auto result = profile([] { scopeCalled("usable"); });
  EXPECT_EQ(names(*result), Names{"usable"});
}

inline void spin(std::chrono::nanoseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

inline int64_t wallNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A folder of this test alone.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / ("xsigma_profiled_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(std::string_view name) const { return path_ / name; }
  std::string path() const { return path_; }
  Names files() const {
    Names all;
    for (const auto& each : std::filesystem::directory_iterator(path_)) all.push_back(each.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace xsigma::profiler::profiled
