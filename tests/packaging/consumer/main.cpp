// A user's program: records three scopes and returns 0 only if the ledger has all three.
#include <xsigma/profiler/profiler.h>

#include <cstdio>

static_assert(__cplusplus == 201703L, "the point of this program is that users may still be on C++17");

#if !defined(XSIGMA_HAS_KINETO) || !defined(XSIGMA_HAS_ITT) || !defined(XSIGMA_HAS_NVTX) || !defined(XSIGMA_HAS_CUDA)
#error "XSIGMA_HAS_X must always be defined"
#endif
#if XSIGMA_HAS_KINETO != defined(XSIGMA_ENABLE_KINETO) || XSIGMA_HAS_KINETO != defined(USE_KINETO)
#error "XSIGMA_ENABLE_KINETO and USE_KINETO must be defined exactly where XSIGMA_HAS_KINETO is 1"
#endif
#if XSIGMA_HAS_ITT != defined(XSIGMA_ENABLE_ITT) || XSIGMA_HAS_ITT != defined(USE_ITT)
#error "XSIGMA_ENABLE_ITT and USE_ITT must be defined exactly where XSIGMA_HAS_ITT is 1"
#endif
#if XSIGMA_HAS_NVTX != defined(XSIGMA_ENABLE_NVTX) || XSIGMA_HAS_CUDA != defined(XSIGMA_ENABLE_CUDA)
#error "XSIGMA_ENABLE_X must be defined exactly where XSIGMA_HAS_X is 1"
#endif

void scopeFromSeedSpelling();

int main() {
  auto recording = xsigma::profiler::startRecording();
#if XSIGMA_HAS_KINETO
  if (!recording) {
    std::fprintf(stderr, "no recording: %s\n", recording.message().c_str());
    return 1;
  }
  {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_PROFILE_SCOPE("inner");
    scopeFromSeedSpelling();
  }
  const auto ledger = recording->stop().ledger();
  if (ledger.recorded != 3 || ledger.dropped != 0) {
    std::fprintf(stderr, "3 scopes expected; recorded %llu, dropped %llu\n", static_cast<unsigned long long>(ledger.recorded),
                 static_cast<unsigned long long>(ledger.dropped));
    return 1;
  }
  namespace profiler = xsigma::profiler;
  profiler::enableProfiler(profiler::ProfilerConfig(profiler::ProfilerState::KINETO), {profiler::ActivityType::CPU});
  scopeFromSeedSpelling();
  const auto result = profiler::disableProfiler();
  if (result->events().size() != 1 || result->events()[0].name() != "seed spelling") {
    std::fprintf(stderr, "the profiler must give back the scope that was recorded\n");
    return 1;
  }
#else
  scopeFromSeedSpelling();
  try {
    xsigma::profiler::enableProfiler(xsigma::profiler::ProfilerConfig(xsigma::profiler::ProfilerState::KINETO), {xsigma::profiler::ActivityType::CPU});
    std::fprintf(stderr, "a library without the profiler must say so\n");
    return 1;
  } catch (const xsigma::profiler::ProfilerError&) {
  }
  if (recording.ok() || recording.status().code() != xsigma::profiler::StatusCode::unsupported || recording.message().empty()) {
    std::fprintf(stderr, "a library without recording must say so\n");
    return 1;
  }
#endif
  return 0;
}
