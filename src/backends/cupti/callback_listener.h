// Somebody in this folder who wants to see calls of the program; on its threads.
#pragma once

#include "backends/cupti/cupti_api.h"

namespace xsigma::profiler::backends::cupti {

class CallbackListener {
 public:
  virtual ~CallbackListener() = default;
  virtual void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept = 0;
};

}  // namespace xsigma::profiler::backends::cupti
