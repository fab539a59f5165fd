// Result: one event of the tree that a session leaves behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kineto/ActivityType.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/export.h"
#include "xsigma/profiler/record_scope.h"

namespace xsigma::profiler {

enum class EventType : uint8_t {
  TorchOp = 0,  // a scope or a RecordFunction
  Backend,
  Vulkan,
  Allocation,
  OutOfMemory,
  PyCall,
  PyCCall,
  Kineto,  // everything else: instants, counters, what devices and clients report
  PythonGC,
};

class XSIGMA_PROFILER_API Result {
 public:
  const std::string& name() const { return name_; }
  std::string overload_name() const { return {}; }
  EventType tag() const { return tag_; }
  libkineto::ActivityType kinetoType() const { return kineto_type_; }
  RecordScope scope() const { return scope_; }
  uint64_t correlationID() const { return correlation_id_; }
  int64_t endTimeNS() const { return end_time_ns_; }
  int64_t durationNS() const { return end_time_ns_ - start_time_ns_; }
  // Its time without that of its children.
  int64_t selfTimeNS() const;
  uint64_t endTID() const { return end_tid_; }
  DeviceType deviceType() const { return device_type_; }

  int64_t start_time_ns_ = 0;  // CLOCK_REALTIME
  uint64_t start_tid_ = 0;     // logical id of the thread
  std::weak_ptr<Result> parent_;
  std::vector<std::shared_ptr<Result>> children_;  // by start
  bool finished_ = true;  // false: no end was recorded
  bool hidden_ = false;

  std::string name_;
  int64_t end_time_ns_ = 0;
  uint64_t end_tid_ = 0;
  uint64_t correlation_id_ = 0;
  EventType tag_ = EventType::TorchOp;
  libkineto::ActivityType kineto_type_ = libkineto::ActivityType::CPU_OP;
  RecordScope scope_ = RecordScope::FUNCTION;
  DeviceType device_type_ = DeviceType::CPU;
};

}  // namespace xsigma::profiler
