// What tests of a card need of CUDA, without its compiler: the driver's functions found at run time, kernels as PTX.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ptx_card {

// alpha and beta do nothing; spin runs for so many nanoseconds.
inline constexpr char kPtx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry alpha() { ret; }
.visible .entry beta() { ret; }
.visible .entry spin(.param .u64 nanoseconds) {
  .reg .u64 %t<5>;
  .reg .pred %p;
  ld.param.u64 %t0, [nanoseconds];
  mov.u64 %t1, %globaltimer;
again:
  mov.u64 %t2, %globaltimer;
  sub.u64 %t3, %t2, %t1;
  setp.lt.u64 %p, %t3, %t0;
  @%p bra again;
  ret;
}
)";

#define PTX_CARD_DRIVER_CALLS(call)                                                                                      \
  call(cuInit) call(cuDeviceGet) call(cuDeviceGetCount) call(cuDevicePrimaryCtxRetain) call(cuDevicePrimaryCtxReset_v2)  \
      call(cuCtxSetCurrent) call(cuCtxSynchronize) call(cuModuleLoadData) call(cuModuleGetFunction) call(cuLaunchKernel) \
          call(cuStreamCreate) call(cuStreamBeginCapture_v2) call(cuStreamEndCapture) call(cuStreamSynchronize)          \
              call(cuGraphInstantiateWithFlags) call(cuGraphLaunch)

struct Driver {
#define PTX_CARD_POINTER(name) decltype(&::name) name;
  PTX_CARD_DRIVER_CALLS(PTX_CARD_POINTER)
#undef PTX_CARD_POINTER
};

// Null where there is no driver.
inline const Driver* driver() {
  static const Driver* const found = []() -> const Driver* {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return nullptr;
    static Driver all;
#define PTX_CARD_FIND(name)                                              \
  all.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (all.name == nullptr) return nullptr;
    PTX_CARD_DRIVER_CALLS(PTX_CARD_FIND)
#undef PTX_CARD_FIND
    return &all;
  }();
  return found;
}

inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: %d\n", what, static_cast<int>(result));
  std::exit(3);
}

// The primary context of device 0, and its kernels.
struct Card {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction alpha = nullptr;
  CUfunction beta = nullptr;
  CUfunction spin = nullptr;

  Card() {
    const Driver& d = *driver();
    check(d.cuInit(0), "cuInit");
    check(d.cuDeviceGet(&device, 0), "cuDeviceGet");
    check(d.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(d.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(d.cuModuleLoadData(&module, kPtx), "cuModuleLoadData");
    check(d.cuModuleGetFunction(&alpha, module, "alpha"), "cuModuleGetFunction");
    check(d.cuModuleGetFunction(&beta, module, "beta"), "cuModuleGetFunction");
    check(d.cuModuleGetFunction(&spin, module, "spin"), "cuModuleGetFunction");
  }
  void launch(CUfunction kernel, unsigned blocks, CUstream stream = nullptr) const {
    check(driver()->cuLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
  }
  void launchSpin(unsigned long long nanoseconds, unsigned blocks) const {
    void* arguments[] = {&nanoseconds};
    check(driver()->cuLaunchKernel(spin, blocks, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
  }
  void wait() const { check(driver()->cuCtxSynchronize(), "cuCtxSynchronize"); }
};

}  // namespace ptx_card
