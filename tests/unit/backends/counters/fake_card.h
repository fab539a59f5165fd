// What tests tell the stand-in for the vendor's libraries (fake_card.cpp) to do, and ask it afterwards.
#pragma once

#include <cupti_result.h>

#include <atomic>
#include <cstdint>

// Set by a test while threads of what it tests look at it.
template <typename T>
class Shared {
 public:
  Shared(T value = {}) : value_(value) {}
  Shared(const Shared& other) : value_(other.value_.load()) {}
  Shared& operator=(const Shared& other) {
    value_ = other.value_.load();
    return *this;
  }
  T operator=(T value) { return value_ = value; }
  operator T() const { return value_.load(); }
  T operator+=(T value) { return value_ += value; }
  T operator-=(T value) { return value_ -= value; }
  T exchange(T value) { return value_.exchange(value); }
  T operator++() { return ++value_; }
  T operator--() { return --value_; }

 private:
  std::atomic<T> value_;
};

struct FakeCard {
  Shared<CUptiResult> privilege = CUPTI_SUCCESS;  // what asking for counters answers
  Shared<bool> has_context = true;                // when counting starts
  Shared<int> devices = 1;
  Shared<uint64_t> internal_kernels = 0;  // a launch brings so many kernels that no callback tells of
  Shared<bool> deaf = false;              // kernels leave no range
  Shared<bool> overflow_once = false;     // the next decoding of samples says that the device's buffer was full
  Shared<uint64_t> skip_samples = 0;      // so many samples the device overwrites before the next decoding
  Shared<bool> reach_back = false;        // the sample after those says that it began where they did
  Shared<uint64_t> ticks_per_ns = 1;      // of cuptiGetTimestamp's clock
  Shared<bool> foreign_clock = false;     // samples are in no clock of ours
  Shared<bool> hang = false;              // decoding takes a second
  Shared<uint64_t> bytes_per_slot = 24;   // of a range or a sample in an image
  // asked afterwards
  Shared<int> enabled = 0;  // objects that were made and not destroyed
  Shared<int> hosts = 0;
  Shared<int> image_fills = 0;
  Shared<uint32_t> hardware_mode = 0;
  Shared<uint64_t> interval = 0;
  Shared<uint64_t> image_bytes = 0;     // of the objects there are now
  Shared<uint64_t> hardware_bytes = 0;  // of samples that wait on the devices
};

extern "C" {
FakeCard* fake_card();
// A kernel of so many blocks runs in the context.
void fake_run_kernel(void* context, double blocks);
}
