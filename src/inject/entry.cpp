// How libxsp_inject.so comes into a program: the CUDA driver loads what CUDA_INJECTION64_PATH names and calls InitializeInjection from cuInit; or the loader
// loads what LD_PRELOAD names, and the library asks the driver to do the former.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/driver_init.h"
#include "base/environment.h"
#include "inject/injection.h"

using namespace xsigma::profiler;

namespace {

constexpr std::chrono::milliseconds kMostAtQuickEnd{2000};
constexpr const char* kInjectionVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kRootVariable = "XSP_ROOT_PROCESS";

std::string ownPath() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ownPath), &info) == 0 || info.dli_fname == nullptr) return {};
  char* const real = realpath(info.dli_fname, nullptr);
  std::string path = real != nullptr ? real : info.dli_fname;
  std::free(real);
  return path;
}

std::string_view lastPart(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool isPreloaded(std::string_view own_path) {
  const std::string list = base::environmentText("LD_PRELOAD").value_or("");
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(" :", at), list.size());
    if (lastPart(std::string_view(list).substr(at, end - at)) == lastPart(own_path)) return true;
    at = end + 1;
  }
  return false;
}

// For this process and those that it runs; what is there already stays. Not by setenv, which shells replace by one of their own that is not ready before main.
void addToEnvironment(const char* name, const std::string& value) {
  if (base::environmentText(name)) return;
  const std::string start = std::string(name) + "=";
  size_t count = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  char** const more = new char*[count + 2];  // for ever
  char** end = std::copy_if(environ, environ + count, more,
                            [&](const char* each) { return std::string_view(each).substr(0, start.size()) != start; });
  *end++ = strdup((start + value).c_str());
  *end = nullptr;
  environ = more;
}

// The process that was started with LD_PRELOAD, not one of its children, which need not leave a trace of themselves.
bool isRoot() {
  const std::string own = std::to_string(getpid());
  addToEnvironment(kRootVariable, own);
  return base::environmentText(kRootVariable) == own;
}

// Before main. Nothing is loaded and no thread is started in programs that may never use CUDA: the driver calls when they do.
__attribute__((constructor)) void onLoad() {
  try {
    const std::string own_path = ownPath();
    if (own_path.empty() || !isPreloaded(own_path)) return;
    addToEnvironment(kInjectionVariable, own_path);
    if (lastPart(*base::environmentText(kInjectionVariable)) != lastPart(own_path))
      return inject::start();  // the driver will call another tool
    if (isRoot()) inject::leaveEmptyCapture();
  } catch (...) {
  }
}

[[noreturn]] void endNow(int status) noexcept {
  inject::finish(kMostAtQuickEnd);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

extern "C" {

// By the CUDA driver, inside the program's first call into it.
__attribute__((visibility("default"))) int InitializeInjection() {
  const base::DriverInitSection section;
  inject::start();
  return 1;
}

// In place of the C library's, where this library was preloaded: no handler of exit() runs on this way out.
__attribute__((visibility("default"))) void _exit(int status) { endNow(status); }
__attribute__((visibility("default"))) void _Exit(int status) noexcept { endNow(status); }
}
