#include "base/profiler_stubs.h"

#include <fmt/format.h>

#include <atomic>

#include "xsigma/profiler/status.h"

namespace xsigma::profiler {

ProfilerStubs::~ProfilerStubs() = default;

namespace {

// For a device that nobody has brought along.
class MissingStubs final : public ProfilerStubs {
 public:
  constexpr MissingStubs(const char* name, const char* remedy) : name_(name), remedy_(remedy) {}

  void record(int*, ProfilerVoidEventStub*, int64_t*) const override { fail(); }
  float elapsed(const ProfilerVoidEventStub*, const ProfilerVoidEventStub*) const override { fail(); }
  void mark(const char*) const override { fail(); }
  void rangePush(const char*) const override { fail(); }
  void rangePop() const override { fail(); }
  void onEachDevice(const std::function<void(int)>&) const override { fail(); }
  void synchronize() const override { fail(); }

 private:
  [[noreturn]] void fail() const { throw ProfilerError(fmt::format("{} used in profiler but not enabled. {}", name_, remedy_)); }

  const char* name_;
  const char* remedy_;
};

// Never destroyed: a session may outlive main.
template <int which>
const ProfilerStubs* missing(const char* name, const char* remedy) {
  static const auto& stubs = *new MissingStubs(name, remedy);
  return &stubs;
}

constinit std::atomic<const ProfilerStubs*> own_cuda{nullptr};
constinit std::atomic<const ProfilerStubs*> cuda{nullptr};
constinit std::atomic<const ProfilerStubs*> itt{nullptr};
constinit std::atomic<const ProfilerStubs*> privateuse1{nullptr};
constinit thread_local void* current_stream = nullptr;

const ProfilerStubs* registered(const std::atomic<const ProfilerStubs*>& place) { return place.load(std::memory_order_acquire); }

}  // namespace

void registerCUDAMethods(const ProfilerStubs* stubs) noexcept { cuda.store(stubs, std::memory_order_release); }
void registerITTMethods(const ProfilerStubs* stubs) noexcept { itt.store(stubs, std::memory_order_release); }
void registerPrivateUse1Methods(const ProfilerStubs* stubs) noexcept { privateuse1.store(stubs, std::memory_order_release); }
void base::provideCudaStubs(const ProfilerStubs* stubs) noexcept { own_cuda.store(stubs, std::memory_order_release); }

const ProfilerStubs* cudaStubs() noexcept {
  if (const ProfilerStubs* const stubs = registered(cuda)) return stubs;
  if (const ProfilerStubs* const stubs = registered(own_cuda)) return stubs;
  return missing<0>("CUDA",
                    "Start a session with ProfilerState::KINETO_GPU_FALLBACK where there is a CUDA driver, or call registerCUDAMethods()");
}

const ProfilerStubs* ittStubs() noexcept {
  if (const ProfilerStubs* const stubs = registered(itt)) return stubs;
  return missing<1>("ITT", "Call registerITTMethods()");
}

const ProfilerStubs* privateuse1Stubs() noexcept {
  if (const ProfilerStubs* const stubs = registered(privateuse1)) return stubs;
  return missing<2>("PrivateUse1", "Call registerPrivateUse1Methods()");
}

void setCurrentCudaStream(void* stream) noexcept { current_stream = stream; }
void* currentCudaStream() noexcept { return current_stream; }

}  // namespace xsigma::profiler
