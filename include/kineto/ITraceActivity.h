// libkineto::ITraceActivity: one activity of a trace, as readers see it.
#pragma once

#include <cstdint>
#include <string>

#include "ActivityType.h"
#include "TraceSpan.h"

namespace libkineto {

struct ITraceActivity {
  virtual ~ITraceActivity() = default;
  virtual int64_t deviceId() const = 0;    // process, or device
  virtual int64_t resourceId() const = 0;  // system thread, or stream
  virtual int32_t getThreadId() const = 0;
  virtual int64_t timestamp() const = 0;   // ns of the wall clock
  virtual int64_t duration() const = 0;    // ns
  virtual int64_t correlationId() const = 0;
  virtual int flowType() const = 0;
  virtual int64_t flowId() const = 0;
  virtual bool flowStart() const = 0;
  virtual ActivityType type() const = 0;
  virtual const std::string name() const = 0;
  virtual const ITraceActivity* linkedActivity() const = 0;
  virtual const TraceSpan* traceSpan() const = 0;
  virtual const std::string metadataJson() const = 0;  // the inside of an object: "key": value, …
  virtual const std::string getMetadataValue(const std::string&) const { return ""; }

  static int64_t nsToUs(int64_t ns) { return ns / 1000; }
};

}  // namespace libkineto
