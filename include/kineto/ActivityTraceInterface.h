// libkineto::ActivityTraceInterface: a finished trace.
#pragma once

#include <string>
#include <vector>

#include "ITraceActivity.h"

namespace libkineto {

class ActivityTraceInterface {
 public:
  virtual ~ActivityTraceInterface() = default;
  // Valid as long as the trace.
  virtual const std::vector<const ITraceActivity*>* activities() = 0;
  virtual void save(const std::string& path) = 0;
};

}  // namespace libkineto
