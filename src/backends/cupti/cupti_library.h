// CuptiLibrary: CUPTI as this process has it, a table of its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "backends/cupti/cupti_api.h"
#include "base/dynamic_library.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler::backends::cupti {

// As of 13.0; CUPTI goes by the size where later ones have more.
struct SubscriberParams {
  size_t struct_size;
  const char* name;
  char* name_of_other;  // who has CUPTI, if it is taken
  size_t name_of_other_bytes;
};

struct CuptiLibrary {
  // Opened once and never closed; a failure is tried again. Which one: $XSIGMA_PROFILER_CUPTI; one that the program has loaded already; what the loader
  // finds by name; the usual places of a toolkit. Any thread.
  static Expected<const CuptiLibrary*> open();

  // What went wrong, in the vendor's words.
  std::string errorText(CUptiResult result) const;

  uint32_t version = 0;  // of the library that runs: it decides what records look like
  base::DynamicLibrary file;

  explicit CuptiLibrary(base::DynamicLibrary opened) : file(std::move(opened)) {}

  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiSubscribe) subscribe = nullptr;
  decltype(&::cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&::cuptiEnableCallback) enable_callback = nullptr;
  decltype(&::cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&::cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) get_num_dropped_records = nullptr;

  // Null where the library is too old for them. Their types are written out: the headers may be older than the library.
  CUptiResult (*set_attribute)(CUpti_ActivityAttribute, size_t* size, void* value) = nullptr;
  CUptiResult (*register_timestamp_callback)(uint64_t (*)()) = nullptr;
  CUptiResult (*set_thread_id_type)(CUpti_ActivityThreadIdType) = nullptr;
  CUptiResult (*get_graph_node_id)(CUgraphNode, uint64_t*) = nullptr;
  CUptiResult (*finalize)() = nullptr;
  CUptiResult (*enable_driver_api)(CUpti_CallbackId, uint8_t enable) = nullptr;
  CUptiResult (*enable_runtime_api)(CUpti_CallbackId, uint8_t enable) = nullptr;
  CUptiResult (*enable_and_dump)(CUpti_ActivityKind) = nullptr;
  CUptiResult (*enable_event_timestamps)(uint8_t enable) = nullptr;
  CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void* data, SubscriberParams*) = nullptr;
};

}  // namespace xsigma::profiler::backends::cupti
