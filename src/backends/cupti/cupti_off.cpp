// Where this build has no CUPTI: says so to whoever asks for NVIDIA devices.
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends {
namespace {

class CuptiBackend final : public Backend {
 public:
  std::string_view name() const noexcept override { return "cupti"; }
  std::string_view device() const noexcept override { return "CUDA"; }
  Status available() override { return why(); }
  Status prepare(const BackendRequest&) override { return why(); }
  Expected<std::unique_ptr<BackendRun>> start(const BackendRequest&, std::shared_ptr<BackendOutput>) override { return why(); }

 private:
  static Status why() { return {StatusCode::unsupported, XSIGMA_CUPTI_OFF}; }
};

}  // namespace

void add_cupti(std::vector<Backend*>& all) {
  static CuptiBackend& backend = *new CuptiBackend;
  all.push_back(&backend);
}

}  // namespace xsigma::profiler::backends
