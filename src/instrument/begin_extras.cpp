#include "instrument/begin_extras.h"

#include "base/native_stack.h"
#include "capture/sink.h"

namespace xsigma::profiler::instrument {

using capture::Code;
using capture::sizedHead;

namespace {

constexpr unsigned kOwnFrames = 1;  // BeginExtras itself; how many of ours come after it is up to the compiler, so assembly drops them by name

uint32_t putCounters(const base::PerfCounters& counters, uint32_t delta, uint32_t* at) noexcept {
  uint64_t values[base::kMostPerfEvents];
  const uint32_t words = 2 + 2 * counters.count();
  at[0] = sizedHead(Code::perf, words);
  at[1] = delta;
  counters.read(values);
  for (uint32_t i = 0; i < counters.count(); ++i) {
    at[2 + 2 * i] = static_cast<uint32_t>(values[i]);
    at[3 + 2 * i] = static_cast<uint32_t>(values[i] >> 32);
  }
  return words;
}

}  // namespace

__attribute__((noinline)) BeginExtras::BeginExtras(ThreadSlot& slot) noexcept : slot_(slot) {
  if (slot.stacks != 0) frame_count_ = static_cast<uint32_t>(base::captureStack(frames_, capture::kMaxStackFrames, kOwnFrames));
}

uint32_t BeginExtras::put(capture::Writer& writer, uint32_t session, uint32_t delta, uint32_t* at) const noexcept {
  uint32_t words = 0;
  if ((slot_.stacks >> session & 1) != 0) {
    at[0] = sizedHead(Code::stack, 3);
    at[1] = delta;
    at[2] = writer.sink()->internStack(frames_, frame_count_);
    words = 3;
  }
  if (slot_.perf[session].isOpen()) words += putCounters(slot_.perf[session], delta, at + words);
  return words;
}

void putEndCounters(ThreadSlot& slot, capture::Writer& writer, uint32_t session, uint64_t ticks) noexcept {
  const base::PerfCounters& counters = slot.perf[session];
  if (!counters.isOpen()) return;
  if (!writer.ensure(2 + 2 * counters.count() + capture::kEndLongWords, ticks)) return writer.countExtraDrop();
  writer.commit(putCounters(counters, writer.delta(ticks), writer.next()), 0);
}

}  // namespace xsigma::profiler::instrument
