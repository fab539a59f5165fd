// A program that records from its first static constructor to its last static destructor. It exits 0 if the capture has all of it.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "xsigma/profiler/profiler.h"

namespace {

using namespace xsigma::profiler;

// Never destroyed: read by the very last destructor.
std::optional<Recording>& recording() {
  static auto& kept = *new std::optional<Recording>;
  return kept;
}

void check() {
  const Capture capture = recording()->stop();
  size_t before_main = 0;
  size_t in_main = 0;
  size_t after_main = 0;
  capture.forEachRecord([&](const CaptureRecord& record) {
    if (record.kind != RecordKind::scope_end) return;
    before_main += record.name == "static.constructor";
    in_main += record.name == "static.main";
    after_main += record.name == "static.destructor";
  });
  const Ledger ledger = capture.ledger();
  const bool right = before_main == 2 && in_main == 2 && after_main == 2 && ledger.recorded == 6 && ledger.whole();
  std::printf("before main %zu, in main %zu, after main %zu, recorded %llu\n", before_main, in_main, after_main,
              static_cast<unsigned long long>(ledger.recorded));
  std::fflush(stdout);
  _Exit(right ? 0 : 1);
}

struct First {
  First() {
    recording().emplace(std::move(startRecording().value()));
    XSIGMA_PROFILE_SCOPE("static.constructor");
  }
  ~First() {
    { XSIGMA_PROFILE_SCOPE("static.destructor"); }
    check();
  }
} first;

struct Second {
  Second() {
    XSIGMA_PROFILE_SCOPE("static.constructor");
  }
  ~Second() {
    std::thread([] { XSIGMA_PROFILE_SCOPE("static.destructor"); }).join();
  }
} second;

}  // namespace

int main() {
  { XSIGMA_PROFILE_SCOPE("static.main"); }
  const std::string name = "static.main";
  XSIGMA_PROFILE_SCOPE_DYNAMIC(name);
  return 2;
}
