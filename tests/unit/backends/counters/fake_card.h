// What tests tell the stand-in for the vendor's libraries (fake_card.cpp) to do, and ask it afterwards.
#pragma once

#include <cupti_result.h>

#include <cstdint>

struct FakeCard {
  CUptiResult privilege = CUPTI_SUCCESS;  // what asking for counters answers
  bool has_context = true;                // when counting starts
  int devices = 1;
  uint64_t internal_kernels = 0;  // a launch brings so many kernels that no callback tells of
  bool deaf = false;              // kernels leave no range
  bool overflow_once = false;     // the next decoding of samples says that the device's buffer was full
  uint64_t skip_samples = 0;      // so many samples the device overwrites before the next decoding
  bool foreign_clock = false;     // samples are in no clock of ours
  bool hang = false;              // decoding takes a second
  // asked afterwards
  int enabled = 0;  // objects that were made and not destroyed
  int hosts = 0;
  int image_fills = 0;
  uint32_t hardware_mode = 0;
  uint64_t interval = 0;
};

extern "C" {
FakeCard* fake_card();
// A kernel of so many blocks runs in the context.
void fake_run_kernel(void* context, double blocks);
}
