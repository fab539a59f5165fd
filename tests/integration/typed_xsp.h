// xsp as it is typed: what it prints, and its exit status.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace xsigma::profiler::test {

struct Outcome {
  int exit_code = -1;
  std::string output;  // both streams
};

inline Outcome xsp(const std::string& arguments) {
  Outcome outcome;
  FILE* const pipe = popen((std::string(XSP_PATH) + " " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) outcome.output.append(buffer.data(), bytes);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A folder of this test alone, with a capture to be in it; removed with what is in it.
class XspFolder : public testing::Test {
 protected:
  XspFolder() : folder_(testing::TempDir() + "xsp_" + std::to_string(getpid())), path_(folder_ + "/run.xst") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~XspFolder() override { std::filesystem::remove_all(folder_); }

  const std::string folder_;
  const std::string path_;
};

}  // namespace xsigma::profiler::test
