#include "base/native_stack.h"

#include <unwind.h>

#include <algorithm>

namespace xsigma::profiler::base {

namespace {

struct Walk {
  uint64_t* frames;
  size_t most;
  size_t skip;
  size_t count = 0;
};

_Unwind_Reason_Code visitFrame(_Unwind_Context* context, void* opaque) noexcept {
  auto& walk = *static_cast<Walk*>(opaque);
  int before_instruction = 0;
  const uint64_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.skip > 0) {
    --walk.skip;
    return _URC_NO_REASON;
  }
  walk.frames[walk.count++] = address + (before_instruction != 0 ? 1 : 0);
  return walk.count < walk.most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

void prepareStackCapture() noexcept {
  uint64_t frames[kMostStackFrames];
  captureStack(frames, kMostStackFrames, 0);
}

// Never inlined and no tail call: exactly one frame, the first to be visited, is ours.
[[gnu::noinline]] size_t captureStack(uint64_t* frames, size_t most, unsigned skip) noexcept {
  if (most == 0) return 0;
  Walk walk{.frames = frames, .most = std::min(most, kMostStackFrames), .skip = size_t{skip} + 1};
  _Unwind_Backtrace(visitFrame, &walk);
  return walk.count;
}

}  // namespace xsigma::profiler::base
