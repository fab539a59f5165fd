// StreamDump: records of contexts and streams, of those too that are there already. CUPTI lists them under a lock that threads which call CUDA without a pause
// keep to themselves, so nobody waits for it: they come when they come, and only names and priorities of rows depend on them. One for the process, since what
// waits for the lock may outlive its run; runs that follow share it.
#pragma once

#include <mutex>

#include "backends/cupti/cupti_library.h"

namespace xsigma::profiler::backends::cupti {

class StreamDump {
 public:
  static StreamDump& ofProcess();

  // From now on, or as soon as may be. One run at a time.
  void want(const CuptiLibrary& cupti);
  void unwant(const CuptiLibrary& cupti);

 private:
  void follow(const CuptiLibrary& cupti) noexcept;

  std::mutex mutex_;  // never held while CUPTI is called
  bool wanted_ = false;
  bool on_ = false;
  bool under_way_ = false;  // somebody is in follow()
};

}  // namespace xsigma::profiler::backends::cupti
