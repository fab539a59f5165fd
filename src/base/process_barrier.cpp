#include "base/process_barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace xsigma::profiler::base {
namespace {

long membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }

enum class Support : unsigned char { unknown, yes, no };
constinit std::atomic<Support> support{Support::unknown};

}  // namespace

bool processBarrierAvailable() noexcept {
  Support known = support.load(std::memory_order_relaxed);
  if (known == Support::unknown) {
    known = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 ? Support::yes : Support::no;
    support.store(known, std::memory_order_relaxed);
  }
  return known == Support::yes;
}

void processBarrier() noexcept {
  static constinit std::atomic<int> fence{0};
  fence.fetch_add(1, std::memory_order_seq_cst);
  if (processBarrierAvailable()) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace xsigma::profiler::base
