// The backend of a device that does not exist: what any machine can test.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/fake/fake_device.h"

namespace xsigma::profiler::backends {
namespace {

using fake::FakeDevice;

class FakeRun final : public BackendRun {
 public:
  explicit FakeRun(std::shared_ptr<BackendOutput> output) : output_(std::move(output)) {}

  void setCollecting(bool on) noexcept override { FakeDevice::get().setCollecting(on); }
  void stop() noexcept override { FakeDevice::get().stop(); }
  bool drain(std::chrono::steady_clock::time_point) noexcept override {
    FakeDevice::get().fetch(*output_);
    return !FakeDevice::get().isLate();
  }

 private:
  std::shared_ptr<BackendOutput> output_;
};

class FakeBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "fake"; }
  std::string_view device() const noexcept override { return "CUDA"; }
  Status available() override {
    const char* const named = std::getenv("XSIGMA_PROFILER_BACKENDS");
    if (named != nullptr && std::strcmp(named, "fake") == 0) return {};
    return {StatusCode::unsupported, "the simulated device is for tests. XSIGMA_PROFILER_BACKENDS=fake uses it"};
  }
  Status prepare(const BackendRequest&) override { return FakeDevice::get().start(); }
  Expected<std::unique_ptr<BackendRun>> start(const BackendRequest& request, std::shared_ptr<BackendOutput> output) override {
    if (Status status = FakeDevice::get().start(); !status) return status;
    FakeDevice::get().watch(request);
    return std::unique_ptr<BackendRun>(std::make_unique<FakeRun>(std::move(output)));
  }
};

}  // namespace

void add_fake(std::vector<Backend*>& all) {
  static FakeBackend& backend = *new FakeBackend;
  all.push_back(&backend);
}

}  // namespace xsigma::profiler::backends
