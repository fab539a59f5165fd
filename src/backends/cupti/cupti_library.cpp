#include "backends/cupti/cupti_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/dynamic_library.h"
#include "base/environment.h"

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr uint32_t kOldestVersion = 18;  // CUDA 12.0 says 18

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

bool isLoaded(const char* name) {
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

std::vector<std::string> candidates() {
  if (std::optional<std::string> named = base::environmentText("XSIGMA_PROFILER_CUPTI")) return {*std::move(named)};
  std::vector<std::string> all;
  // Two copies of it in one process do not work: one that is there already comes first.
  for (const char* const name : kNames) {
    if (isLoaded(name)) all.emplace_back(name);
  }
  all.insert(all.end(), std::begin(kNames), std::end(kNames));
  std::vector<std::string> toolkits;
  if (std::optional<std::string> home = base::environmentText("CUDA_HOME")) toolkits.push_back(*std::move(home));
  toolkits.emplace_back("/usr/local/cuda");
  for (const std::string& toolkit : toolkits) {
    for (const char* const folder : {"extras/CUPTI/lib64", "lib64"}) {
      for (const char* const name : kNames) all.push_back(fmt::format("{}/{}/{}", toolkit, folder, name));
    }
  }
  return all;
}

// Binds functions by name, and remembers the first that is missing.
class Binder {
 public:
  explicit Binder(const base::DynamicLibrary& library) : library_(library) {}

  template <typename Function>
  void need(Function*& slot, const char* symbol) {
    want(slot, symbol);
    if (slot == nullptr && missing_.empty()) missing_ = symbol;
  }
  template <typename Function>
  void want(Function*& slot, const char* symbol) {
    slot = library_.function<Function>(symbol);
  }
  const std::string& missing() const { return missing_; }

 private:
  const base::DynamicLibrary& library_;
  std::string missing_;
};

std::string bind(CuptiLibrary& table) {
  Binder binder(table.file);
  binder.need(table.get_version, "cuptiGetVersion");
  binder.need(table.get_result_string, "cuptiGetResultString");
  binder.need(table.subscribe, "cuptiSubscribe");
  binder.need(table.unsubscribe, "cuptiUnsubscribe");
  binder.need(table.enable_callback, "cuptiEnableCallback");
  binder.need(table.get_callback_name, "cuptiGetCallbackName");
  binder.need(table.register_callbacks, "cuptiActivityRegisterCallbacks");
  binder.need(table.enable, "cuptiActivityEnable");
  binder.need(table.disable, "cuptiActivityDisable");
  binder.need(table.flush_all, "cuptiActivityFlushAll");
  binder.need(table.get_next_record, "cuptiActivityGetNextRecord");
  binder.need(table.get_num_dropped_records, "cuptiActivityGetNumDroppedRecords");
  binder.want(table.set_attribute, "cuptiActivitySetAttribute");
  binder.want(table.register_timestamp_callback, "cuptiActivityRegisterTimestampCallback");
  binder.want(table.set_thread_id_type, "cuptiSetThreadIdType");
  binder.want(table.get_graph_node_id, "cuptiGetGraphNodeId");
  binder.want(table.finalize, "cuptiFinalize");
  binder.want(table.enable_driver_api, "cuptiActivityEnableDriverApi");
  binder.want(table.enable_runtime_api, "cuptiActivityEnableRuntimeApi");
  binder.want(table.enable_and_dump, "cuptiActivityEnableAndDump");
  binder.want(table.enable_event_timestamps, "cuptiActivityEnableCudaEventDeviceTimestamps");
  binder.want(table.subscribe_v2, "cuptiSubscribe_v2");
  return binder.missing();
}

Expected<const CuptiLibrary*> openNow() {
  Expected<base::DynamicLibrary> library = base::DynamicLibrary::open(candidates());
  if (!library) {
    return Status(StatusCode::unsupported,
                  fmt::format("CUPTI, which comes with a CUDA toolkit, was not found: {}. Install it, add its folder to "
                              "LD_LIBRARY_PATH, or name the file in XSIGMA_PROFILER_CUPTI",
                              library.message()));
  }
  auto table = std::make_unique<CuptiLibrary>(*std::move(library));
  const std::string& path = table->file.path();
  if (const std::string missing = bind(*table); !missing.empty()) {
    return Status(StatusCode::unsupported,
                  fmt::format("{} is no CUPTI that can be used: it has no {}. XSIGMA_PROFILER_CUPTI can name another one", path, missing));
  }
  if (const CUptiResult result = table->get_version(&table->version); result != CUPTI_SUCCESS) {
    return Status(StatusCode::unsupported, fmt::format("{} does not say its version: {}", path, table->errorText(result)));
  }
  if (table->version < kOldestVersion) {
    return Status(StatusCode::unsupported,
                  fmt::format("{} is version {} of CUPTI; that of CUDA 12.0 or later is needed. XSIGMA_PROFILER_CUPTI can "
                              "name another one",
                              path, table->version));
  }
  return const_cast<const CuptiLibrary*>(table.release());
}

}  // namespace

Expected<const CuptiLibrary*> CuptiLibrary::open() {
  static std::mutex& mutex = *new std::mutex;
  static const CuptiLibrary* opened = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (opened != nullptr) return opened;
  Expected<const CuptiLibrary*> now = openNow();
  if (now) opened = *now;
  return now;
}

std::string CuptiLibrary::errorText(CUptiResult result) const {
  const char* text = nullptr;
  if (get_result_string != nullptr && get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
  return fmt::format("error {}", static_cast<int>(result));
}

}  // namespace xsigma::profiler::backends::cupti
