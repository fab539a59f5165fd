#include "backends/cupti/stream_dump.h"

#include <chrono>
#include <new>

#include "backends/cupti/cupti_threads.h"
#include "base/driver_init.h"
#include "base/own_thread.h"

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr std::chrono::milliseconds kMostWaiting{20};  // it takes one or two
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM};

}  // namespace

StreamDump& StreamDump::ofProcess() {
  static StreamDump& dump = *new StreamDump;
  return dump;
}

void StreamDump::want(const CuptiLibrary& cupti) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wanted_ = true;
    if (under_way_ || on_) return;
    under_way_ = true;
  }
  // This thread initialises the driver: nobody else is inside, and another thread would wait for it.
  if (base::insideDriverInit()) return follow(cupti);
  try {
    base::endsWithin(kMostWaiting, "xsp-streams", [this, &cupti] {
      CuptiThreads::ofProcess().noteThis();
      follow(cupti);
    });
  } catch (const std::bad_alloc&) {
    const std::lock_guard<std::mutex> lock(mutex_);
    under_way_ = false;
  }
}

void StreamDump::unwant(const CuptiLibrary& cupti) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wanted_ = false;
    if (under_way_ || !on_) return;
    under_way_ = true;
  }
  follow(cupti);
}

// Until what is on is what is wanted.
void StreamDump::follow(const CuptiLibrary& cupti) noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  while (on_ != wanted_) {
    const bool on = wanted_;
    lock.unlock();
    for (const CUpti_ActivityKind kind : kKinds) {
      if (!on) {
        cupti.disable(kind);
      } else if (cupti.enable_and_dump == nullptr || cupti.enable_and_dump(kind) != CUPTI_SUCCESS) {
        cupti.enable(kind);
      }
    }
    lock.lock();
    on_ = on;
  }
  under_way_ = false;
}

}  // namespace xsigma::profiler::backends::cupti
