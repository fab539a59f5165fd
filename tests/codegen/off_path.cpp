// What a scope leaves in user code. check_codegen.py reads the assembly of this file.
#include <xsigma/profiler/scope.h>

void work();

#if defined(PLANT_ATOMIC_UPDATE)
std::atomic<unsigned> counter;
#endif

extern "C" void scopeAroundCall() {
  XSIGMA_PROFILE_SCOPE("codegen");
#if defined(PLANT_ATOMIC_UPDATE)
  counter.fetch_add(1, std::memory_order_relaxed);
#endif
  work();
}
