#include <fmt/format.h>

#include <limits>

#include "base/log.h"
#include "xsigma/profiler/session.h"

namespace xsigma::profiler {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;  // sums stay in range

void check(const char* argument, int64_t value, int64_t least) {
  if (value >= least && value <= kMost) return;
  throw ProfilerError(fmt::format("schedule: {} = {} was asked for. Use a number of steps from {} to {}", argument, value, least, kMost));
}

struct Cycles {
  int64_t wait;
  int64_t warmup;
  int64_t active;
  int64_t repeat;
  int64_t skip_first;
  bool skip_first_wait;

  ProfilerAction operator()(int64_t step) const {
    if (step < 0 || step > kMost) throw ProfilerError(fmt::format("schedule: step {} was asked for. Steps are counted from 0", step));
    if (step < skip_first) return ProfilerAction::NONE;
    step -= skip_first;
    if (skip_first_wait) step += wait;
    const int64_t length = wait + warmup + active;
    if (repeat > 0 && step / length >= repeat) return ProfilerAction::NONE;
    const int64_t place = step % length;
    if (place < wait) return ProfilerAction::NONE;
    if (place < wait + warmup) return ProfilerAction::WARMUP;
    return place == length - 1 ? ProfilerAction::RECORD_AND_SAVE : ProfilerAction::RECORD;
  }
};

}  // namespace

const char* toString(ProfilerAction action) noexcept {
  switch (action) {
    case ProfilerAction::NONE: return "NONE";
    case ProfilerAction::WARMUP: return "WARMUP";
    case ProfilerAction::RECORD: return "RECORD";
    case ProfilerAction::RECORD_AND_SAVE: return "RECORD_AND_SAVE";
  }
  return "(no action)";
}

Schedule schedule(int64_t wait, int64_t warmup, int64_t active, int64_t repeat, int64_t skip_first, int64_t skip_first_wait) {
  check("wait", wait, 0);
  check("warmup", warmup, 0);
  check("active", active, 1);
  check("repeat", repeat, 0);
  check("skip_first", skip_first, 0);
  check("skip_first_wait", skip_first_wait, 0);
  if (warmup == 0)
    base::warn("schedule: warmup = 0: the first recorded step carries what recording costs at its beginning. Use warmup = 1 or more");
  return Cycles{wait, warmup, active, repeat, skip_first, skip_first_wait != 0};
}

}  // namespace xsigma::profiler
