// xsp as it is typed: what it prints, and its exit status.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
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

}  // namespace xsigma::profiler::test
