// CaptureRecord: one record of a capture, decoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/input_value.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler {

enum class RecordKind : uint8_t {
  scope_begin,
  scope_end,
  async_begin,
  async_end,
  instant,
  counter,
  memory,
  out_of_memory,
  given_event,
  external_id_push,
  external_id_pop,
  metadata,
  op_info,  // sequence number and the like, of the scope that begins next
  inputs,
};

XSIGMA_PROFILER_API const char* toString(RecordKind kind) noexcept;

// An input as it was recorded; dims and strides for tensors, items for lists.
struct RecordedInput {
  InputValue::Kind kind = InputValue::Kind::none;
  int64_t integer = 0;
  double real = 0;
  std::string text;  // a string, or a tensor's dtype
  uint64_t address = 0;
  Device device{};
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<RecordedInput> items;
};

enum class InputRole : uint8_t { inputs, keyword_inputs, outputs };

// An event with times and place of its own: of a device, a child profiler, a backend.
struct GivenEvent {
  int64_t start_ns = 0;  // CLOCK_REALTIME
  int64_t duration_ns = 0;
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int32_t activity_type = 0;
  uint64_t correlation_id = 0;
  uint64_t linked_correlation_id = 0;
  uint32_t flow_id = 0;
  uint8_t flow_type = 0;
  bool flow_start = false;
  std::string_view name = {};
  std::string_view metadata_json = {};  // the inside of an object: "key": value, …
};

// Only the fields that the kind has are set.
struct CaptureRecord {
  RecordKind kind = RecordKind::scope_begin;
  uint32_t thread = 0;
  uint64_t offset = 0;       // in the capture, for messages
  uint64_t ticks = 0;        // when; for scope_end: the end
  uint64_t begin_ticks = 0;  // scope_end, async_end of a RecordFunction
  uint64_t id = 0;           // of a scope that begins; async, external and operation ids
  RecordScope scope = RecordScope::FUNCTION;
  std::string_view name;     // for metadata: the key
  std::string_view file;
  uint32_t line = 0;
  std::string_view text;     // metadata: the value
  double value = 0;          // counter

  uint64_t address = 0;      // memory
  int64_t bytes = 0;
  uint64_t total_allocated = 0;
  uint64_t total_reserved = 0;
  Device device{};

  int64_t sequence_number = -1;  // op_info
  uint64_t forward_thread = 0;
  int64_t debug_handle = -1;
  bool async = false;

  uint8_t domain = 0;  // external ids
  InputRole role = InputRole::inputs;
  bool inputs_cut = false;  // they were too long to be kept
  std::vector<RecordedInput> inputs;
  std::vector<std::string> keys;  // of keyword inputs
  GivenEvent given;
};

}  // namespace xsigma::profiler
