#include <utility>

#include "xsigma/profiler/session.h"

namespace xsigma::profiler {

ScopedProfile::ScopedProfile(ProfileOptions options) : profile_(std::move(options)) { profile_.start(); }

}  // namespace xsigma::profiler
