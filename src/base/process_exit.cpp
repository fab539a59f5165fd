#include "base/process_exit.h"

#include <atomic>
#include <cstdlib>

namespace xsigma::profiler::base {
namespace {

std::atomic<bool> exits{false};

}  // namespace

void watchProcessExit() {
  static const int registered = std::atexit([] { exits.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

bool processExits() noexcept { return exits.load(std::memory_order_relaxed); }

}  // namespace xsigma::profiler::base
