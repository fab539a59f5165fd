// The names of this profiler where code that was written for PyTorch looks for them.
#pragma once

#include "xsigma/profiler/collection.h"
#include "xsigma/profiler/events.h"
#include "xsigma/profiler/kineto_shim.h"
#include "xsigma/profiler/observer.h"
#include "xsigma/profiler/profiler_kineto.h"

namespace xsigma {
namespace profiler::impl {

using profiler::ActiveProfilerType;
using profiler::ActivityType;
using profiler::actToString;
using profiler::EventType;
using profiler::ExperimentalConfig;
using profiler::getProfilerConfig;
using profiler::ProfilerConfig;
using profiler::profilerEnabled;
using profiler::ProfilerState;
using profiler::ProfilerStateBase;
using profiler::profilerType;
using profiler::RecordQueue;
using profiler::Result;

}  // namespace profiler::impl

namespace autograd::profiler {

using xsigma::profiler::ActivityType;
using xsigma::profiler::addMetadataJson;
using xsigma::profiler::deviceTypeFromActivity;
using xsigma::profiler::disableProfiler;
using xsigma::profiler::disableProfilerInChildThread;
using xsigma::profiler::enableProfiler;
using xsigma::profiler::enableProfilerInChildThread;
using xsigma::profiler::enableProfilerWithEventPostProcess;
using xsigma::profiler::exportMemoryProfile;
using xsigma::profiler::isProfilerEnabledInMainThread;
using xsigma::profiler::KinetoEvent;
using xsigma::profiler::post_process_t;
using xsigma::profiler::prepareProfiler;
using xsigma::profiler::ProfilerConfig;
using xsigma::profiler::ProfilerResult;
using xsigma::profiler::ProfilerState;
using xsigma::profiler::profilerStep;
using xsigma::profiler::reportBackendEventToActiveKinetoProfiler;
using xsigma::profiler::startMemoryProfile;
using xsigma::profiler::stopMemoryProfile;
using xsigma::profiler::toggleCollectionDynamic;

}  // namespace autograd::profiler
}  // namespace xsigma
