// CallDecoder: calls of the program's threads into CUDA, as activities.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "backends/cupti/cupti_library.h"
#include "backends/cupti/records.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class CallDecoder {
 public:
  CallDecoder(const CuptiLibrary& cupti, int process_id, BackendOutput& output) : cupti_(cupti), process_id_(process_id), output_(output) {}

  void put(const CallRecord& call);

 private:
  struct Function {
    bool known = false;
    bool kept = false;
    uint32_t name = 0;
  };

  const Function& functionOf(const CallRecord& call);
  void seen(uint32_t thread);

  const CuptiLibrary& cupti_;
  int process_id_;
  BackendOutput& output_;
  std::vector<Function> functions_[2];  // of the runtime, of the driver; by callback id
  std::unordered_set<uint32_t> threads_;
  uint32_t last_thread_ = 0;
  uint32_t form_ = 0;
};

}  // namespace xsigma::profiler::backends::cupti
