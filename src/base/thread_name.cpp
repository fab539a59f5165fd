#include "base/thread_name.h"

#include <fstream>

namespace xsigma::profiler::base {

std::string threadName(uint32_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace xsigma::profiler::base
