// RecordQueue: a capture that is fed call by call instead of by the scope macros.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/record_function.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

// Ends what begin_op began; the thread may be another one.
struct OpToken {
  uint64_t ticks = 0;
  uint64_t id = 0;
  uint32_t site = 0;
  uint32_t thread = 0;  // who began
};

// Any thread may call any method at any time; records are kept per thread, without a lock.
class XSIGMA_PROFILER_API RecordQueue {
 public:
  struct State;  // the library's own

  static Expected<RecordQueue> create(CaptureOptions options = {});
  RecordQueue(RecordQueue&&) noexcept;
  RecordQueue& operator=(RecordQueue&&) noexcept;
  ~RecordQueue();

  // With name, scope, inputs, sequence number and ids of fn, as its start callback sees them.
  OpToken begin_op(const RecordFunction& fn) noexcept;
  OpToken begin_op(std::string_view name, RecordScope scope = RecordScope::FUNCTION) noexcept;
  // A token of an op that was dropped ends nothing.
  void end_op(const OpToken& token) noexcept;

  void instant(std::string_view name) noexcept;
  void counter(std::string_view name, double value) noexcept;
  void metadata(std::string_view key, std::string_view value) noexcept;
  void memory(void* ptr, int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept;
  void outOfMemory(int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept;
  void given(const GivenEvent& event) noexcept;
  // What happens between push and pop on this thread belongs to id; domain tells kinds of ids apart.
  void pushExternalId(uint64_t id, uint8_t domain = 0) noexcept;
  void popExternalId(uint8_t domain = 0) noexcept;

  // As Recording::stop.
  Capture stop();

 private:
  explicit RecordQueue(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace xsigma::profiler
