#include "backends/cupti/call_decoder.h"

#include "backends/cupti/call_filter.h"
#include "backends/cupti/names.h"
#include "base/thread_name.h"

namespace xsigma::profiler::backends::cupti {

const CallDecoder::Function& CallDecoder::functionOf(const CallRecord& call) {
  constexpr uint32_t kMostFunctions = 1u << 16;
  std::vector<Function>& functions = functions_[call.driver ? 1 : 0];
  const uint32_t place = call.function % kMostFunctions;
  if (place >= functions.size()) functions.resize(place + 64);
  Function& function = functions[place];
  if (!function.known) {
    const char* text = nullptr;
    const CUpti_CallbackDomain domain = call.driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    const bool named = cupti_.get_callback_name(domain, call.function, &text) == CUPTI_SUCCESS && text != nullptr;
    const std::string_view plain = named ? withoutVersion(text) : "INVALID";
    function.kept = !named || (call.driver ? isKeptDriverCall(plain) : isKeptRuntimeCall(plain));
    if (function.kept) function.name = output_.text(plain);
    function.known = !function.kept || function.name != 0;
  }
  return function;
}

// While it runs: its row is called what it is called.
void CallDecoder::seen(uint32_t thread) {
  if (thread == last_thread_) return;
  last_thread_ = thread;
  if (!threads_.insert(thread).second) return;
  if (const std::string name = base::threadName(thread); !name.empty()) output_.row(kThisProcess, thread, name, 0);
}

void CallDecoder::put(const CallRecord& call) {
  const Function& function = functionOf(call);
  if (!function.kept) return;
  seen(call.thread);
  DeviceActivity activity;
  activity.role = DeviceRole::call;
  activity.type = call.driver ? libkineto::ActivityType::CUDA_DRIVER : libkineto::ActivityType::CUDA_RUNTIME;
  activity.failed = call.result != 0;
  activity.start = call.start;
  activity.end = call.end;
  activity.process_id = process_id_;
  activity.thread_id = call.thread;
  activity.correlation = call.correlation;
  activity.kind =
      (call.driver ? uint32_t{CUPTI_CB_DOMAIN_DRIVER_API} : uint32_t{CUPTI_CB_DOMAIN_RUNTIME_API}) << 16 | (call.function & 0xffff);
  activity.name = function.name;
  if (form_ == 0) form_ = output_.text("\"cbid\": \x01, \"correlation\": \x01");
  activity.form = form_;
  const int64_t values[] = {call.function, call.correlation};
  activity.values = values;
  activity.value_count = 2;
  output_.put(activity);
}

}  // namespace xsigma::profiler::backends::cupti
