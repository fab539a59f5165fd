// CUPTI's functions, as its headers declare them. Those that an older header does not declare are the same by name and by shape.
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <cupti_version.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "library.h"

using xsigma::standin::Library;
using xsigma::standin::Seen;

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = Library::get().version();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  switch (result) {
    case CUPTI_SUCCESS: *text = "CUPTI_SUCCESS"; break;
    case CUPTI_ERROR_INVALID_PARAMETER: *text = "CUPTI_ERROR_INVALID_PARAMETER"; break;
    case CUPTI_ERROR_MAX_LIMIT_REACHED: *text = "CUPTI_ERROR_MAX_LIMIT_REACHED"; break;
    case CUPTI_ERROR_NOT_INITIALIZED: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
    case CUPTI_ERROR_INVALID_KIND: *text = "CUPTI_ERROR_INVALID_KIND"; break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"; break;
    default: *text = "CUPTI_ERROR_UNKNOWN"; break;
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetErrorMessage(CUptiResult result, const char** text) { return cuptiGetResultString(result, text); }

// ---- callbacks

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* data) {
  if (subscriber == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const CUptiResult result = Library::get().subscribe(callback, data);
  *subscriber = result == CUPTI_SUCCESS ? reinterpret_cast<CUpti_SubscriberHandle>(&Library::get()) : nullptr;
  return result;
}

#if CUPTI_API_VERSION < 130000
struct CUpti_SubscriberParams {
  size_t structSize;
  const char* subscriberName;
  char* oldSubscriberName;
  size_t oldSubscriberSize;
};
#endif
CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* data,
                                       CUpti_SubscriberParams* params) {
  const CUptiResult result = cuptiSubscribe(subscriber, callback, data);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", Library::get().behaviour().other_name.c_str());
  }
  return result;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) { return Library::get().unsubscribe(); }

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  return Library::get().enableCallback(on != 0, domain, cbid);
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
  return Library::get().enableCallback(on != 0, domain, ~CUpti_CallbackId{0});
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  const auto& calls = Library::get().recording().calls;
  const auto found = calls.find({domain, cbid});
  if (found == calls.end()) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found->second.c_str();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  *id = reinterpret_cast<uint64_t>(node);
  return CUPTI_SUCCESS;
}

// ---- activities

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) { return Library::get().enable(kind, true); }
CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  while (Library::get().behaviour().dump_kept_out) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Library::get().enable(kind, true);
}
CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) { return Library::get().enable(kind, false); }

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t on) {
  return Library::get().enableCall(CUPTI_ACTIVITY_KIND_RUNTIME, cbid, on != 0);
}
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t on) {
  return Library::get().enableCall(CUPTI_ACTIVITY_KIND_DRIVER, cbid, on != 0);
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed) {
  return Library::get().registerBuffers(requested, completed);
}
CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(uint64_t (*clock)()) { return Library::get().registerClock(clock); }

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  return Library::get().nextRecord(buffer, valid, record);
}
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flags) { return Library::get().flush((flags & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0); }
CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t) { return Library::get().initialised(); }
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) { return Library::get().takeDropped(dropped); }

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t* size, void* value) {
  return size == nullptr || value == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : Library::get().initialised();
}
CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) Library::get().note([](Seen& seen) { seen.system_thread_ids = true; });
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t on) {
  if (on != 0) {
    Library::get().note([](Seen& seen) { seen.event_timestamps = true; });
  } else {
    Library::get().note([](Seen& seen) { seen.event_timestamps = false; });
  }
  return Library::get().initialised();
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* time) {
  if (time == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *time = Library::get().now();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI cuptiFinalize(void) { return Library::get().finalize(); }

}  // extern "C"
