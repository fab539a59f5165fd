// A backend to copy: one call and one kernel for every run. Copy this folder, rename what says "template", and add the folder to the list in
// src/backends/CMakeLists.txt; nothing else needs to know.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends {
namespace {

using libkineto::ActivityType;

class TemplateRun final : public BackendRun {
 public:
  TemplateRun(const BackendRequest& request, std::shared_ptr<BackendOutput> output)
      : process_id_(request.process_id), host_ticks_(request.host_ticks), output_(std::move(output)), started_(host_ticks_()) {}

  // Tell the vendor's library here to leave out what comes, and to go on.
  void setCollecting(bool) noexcept override {}
  // Tell it here to record nothing more.
  void stop() noexcept override { stopped_ = host_ticks_(); }
  // Fetch here what it still has, and put it.
  bool drain(std::chrono::steady_clock::time_point) noexcept override {
    output_->row(0, -1, "template device", 0);
    output_->row(0, 1, "queue 1", 1);
    DeviceActivity call;
    call.role = DeviceRole::call;
    call.type = ActivityType::PRIVATEUSE1_RUNTIME;
    call.start = started_;
    call.end = started_ + (stopped_ - started_) / 2;
    call.process_id = process_id_;
    call.thread_id = process_id_;
    call.correlation = 1;
    call.name = output_->text("templateLaunch");
    output_->put(call);

    DeviceActivity work;
    work.start = call.start + (call.end - call.start) / 2;
    work.end = stopped_;
    work.thread_id = 1;
    work.correlation = 1;
    work.name = output_->text("template_kernel");
    work.form = output_->text("\"size\": \x01");
    const int64_t values[] = {64};
    work.values = values;
    work.value_count = 1;
    output_->put(work);
    return true;
  }

 private:
  int process_id_;
  uint64_t (*host_ticks_)() noexcept;
  std::shared_ptr<BackendOutput> output_;
  uint64_t started_;
  uint64_t stopped_ = 0;
};

class TemplateBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "template"; }
  std::string_view device() const noexcept override { return "PrivateUse1"; }
  // Open the vendor's library here (base/dynamic_library.h), and say what is missing.
  Status available() override {
    const char* const named = std::getenv("XSIGMA_PROFILER_BACKENDS");
    if (named != nullptr && std::strcmp(named, "template") == 0) return {};
    return {StatusCode::unsupported, "the template watches no device. XSIGMA_PROFILER_BACKENDS=template uses it all the same"};
  }
  Status prepare(const BackendRequest&) override { return {}; }
  Expected<std::unique_ptr<BackendRun>> start(const BackendRequest& request, std::shared_ptr<BackendOutput> output) override {
    return std::unique_ptr<BackendRun>(std::make_unique<TemplateRun>(request, std::move(output)));
  }
};

}  // namespace

void add_template(std::vector<Backend*>& all) {
  static TemplateBackend& backend = *new TemplateBackend;
  all.push_back(&backend);
}

}  // namespace xsigma::profiler::backends
