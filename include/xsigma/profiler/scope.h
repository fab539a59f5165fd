// The scope macros: XSIGMA_PROFILE_SCOPE and its kin. Off: one relaxed load and one branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "xsigma/profiler/export.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler::detail {

// One per place in the source, constant-initialised. `registered` is 0 until the place was first seen recording.
struct ScopeSite {
  const char* name;
  const char* file;
  uint32_t line;
  RecordScope scope;
  std::atomic<uint32_t> registered{0};
};

// What an open scope keeps: begin time (0: nothing was opened) and what the library needs to close it.
struct ScopeToken {
  uint64_t ticks = 0;
  uint64_t reference = 0;
};

// Zero while nobody listens: no recording, no callback. Anything else sends scopes into the library.
XSIGMA_PROFILER_API extern std::atomic<uint64_t> active_word;

XSIGMA_PROFILER_API XSIGMA_PROFILER_NOPLT ScopeToken beginScope(ScopeSite& site) noexcept;
XSIGMA_PROFILER_API XSIGMA_PROFILER_NOPLT ScopeToken beginScope(std::string_view name, RecordScope scope) noexcept;
XSIGMA_PROFILER_API XSIGMA_PROFILER_NOPLT void endScope(ScopeToken token) noexcept;

inline bool anyoneListens() noexcept {
  return XSIGMA_PROFILER_UNLIKELY(active_word.load(std::memory_order_relaxed) != 0);
}

class ScopeGuard {
 public:
  explicit ScopeGuard(ScopeSite& site) noexcept {
    if (anyoneListens()) open(beginScope(site));
  }
  explicit ScopeGuard(ScopeToken token) noexcept { open(token); }
  ~ScopeGuard() {
    if (XSIGMA_PROFILER_UNLIKELY(ticks_ != 0)) endScope({ticks_, reference_});
  }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  void open(ScopeToken token) noexcept {
    ticks_ = token.ticks;
    reference_ = token.reference;
  }

  uint64_t ticks_ = 0;  // two plain members: they live in registers
  uint64_t reference_ = 0;
};

}  // namespace xsigma::profiler::detail

#define XSIGMA_PROFILER_JOIN_(a, b) a##b
#define XSIGMA_PROFILER_JOIN(a, b) XSIGMA_PROFILER_JOIN_(a, b)

#if defined(XSIGMA_PROFILER_DISABLE)

#define XSIGMA_PROFILE_SCOPE(name) static_cast<void>(0)
#define XSIGMA_PROFILE_SCOPE_DYNAMIC(name) static_cast<void>(0)
#define XSIGMA_PROFILE_FUNCTION() static_cast<void>(0)

#else

#define XSIGMA_PROFILER_SITE_SCOPE_(name, scope, n)                                             \
  static ::xsigma::profiler::detail::ScopeSite XSIGMA_PROFILER_JOIN(xsigma_profiler_site_, n){  \
      name, __FILE__, __LINE__, ::xsigma::profiler::RecordScope::scope};                        \
  const ::xsigma::profiler::detail::ScopeGuard XSIGMA_PROFILER_JOIN(xsigma_profiler_scope_, n)( \
      XSIGMA_PROFILER_JOIN(xsigma_profiler_site_, n))

// A scope with a name known at compile time. Category user_annotation.
#define XSIGMA_PROFILE_SCOPE(name) XSIGMA_PROFILER_SITE_SCOPE_("" name, USER_SCOPE, __COUNTER__)

// A scope whose name is any string view, evaluated only while somebody listens and copied at its first use.
#define XSIGMA_PROFILE_SCOPE_DYNAMIC(name)                                                                \
  const ::xsigma::profiler::detail::ScopeGuard XSIGMA_PROFILER_JOIN(xsigma_profiler_scope_, __COUNTER__)( \
      ::xsigma::profiler::detail::anyoneListens()                                                         \
          ? ::xsigma::profiler::detail::beginScope((name), ::xsigma::profiler::RecordScope::USER_SCOPE)   \
          : ::xsigma::profiler::detail::ScopeToken{})

// The enclosing function, by its own name. Category cpu_op.
#define XSIGMA_PROFILE_FUNCTION() XSIGMA_PROFILER_SITE_SCOPE_(__func__, FUNCTION, __COUNTER__)

#endif

#define XSIGMA_PROFILE_BLOCK(name) XSIGMA_PROFILE_SCOPE(name)
