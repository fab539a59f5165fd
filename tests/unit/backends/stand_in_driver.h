// The few calls of libcuda.so.1 that timing by events takes, counted; and a device that a test steers.
#pragma once

#include <cstdint>

namespace xsigma::profiler::test {

struct StandInDriver {
  int devices = 1;
  void* current_context = nullptr;
  bool capturing = false;               // the stream that is asked about
  bool default_stream_blocked = false;  // another stream is being captured
  int fail_records = 0;                 // so many more cuEventRecord fail
  float now_ms = 0;                     // what an event that is recorded now will say

  int events = 0;  // that exist
  int records = 0;
  int synchronised = 0;
  unsigned last_flags = 0;
  void* last_stream = nullptr;
  void* context_of_elapsed = nullptr;  // current while the time was asked for
  int mode = 0;                        // of captures, of the calling thread
  int mode_of_elapsed = 0;
};

}  // namespace xsigma::profiler::test

extern "C" xsigma::profiler::test::StandInDriver* standInDriver();
