#include "backends/cupti/other_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/loaded_modules.h"

namespace xsigma::profiler::backends::cupti {
namespace {

struct Tool {
  std::string_view library;  // part of a file's name
  std::string_view name;
};

constexpr Tool kTools[] = {
    {"ToolsInjection", "Nsight Systems"},
    {"nsys", "Nsight Systems"},
    {"InterceptorInjection", "Nsight Compute"},
    {"libcuda-injection", "Nsight Compute"},
    {"sanitizer", "compute-sanitizer"},
    {"libcudadebugger", "cuda-gdb"},
    {"dcgm", "DCGM"},
    {"libkineto", "libkineto"},
    {"libtorch_cpu", "PyTorch's profiler, if it is recording"},
    {"libtensorflow", "TensorFlow's profiler, if it is recording"},
    {"scorep", "Score-P"},
    {"libTAU", "TAU"},
    {"libwprof", "wprof"},
};

}  // namespace

std::string likelyHolders() {
  std::vector<std::string> found;
  if (const std::optional<std::string> injected = base::environmentText("CUDA_INJECTION64_PATH")) {
    found.push_back(fmt::format("{} (CUDA_INJECTION64_PATH)", *injected));
  }
  for (const base::LoadedModule& module : base::loadedModules()) {
    const std::string_view path = module.path;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    for (const Tool& tool : kTools) {
      if (file.find(tool.library) == std::string_view::npos) continue;
      std::string entry = fmt::format("{} ({})", tool.name, file);
      if (std::find(found.begin(), found.end(), entry) == found.end()) found.push_back(std::move(entry));
    }
  }
  if (found.empty()) return "";
  return fmt::format("In this process there are: {}.", fmt::join(found, ", "));
}

}  // namespace xsigma::profiler::backends::cupti
