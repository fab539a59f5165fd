// XSigma Profiler: include this one.
#pragma once

#include "xsigma/profiler/callbacks.h"
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/collection.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/input_value.h"
#include "xsigma/profiler/ledger.h"
#include "xsigma/profiler/log.h"
#include "xsigma/profiler/marks.h"
#include "xsigma/profiler/memory.h"
#include "xsigma/profiler/record.h"
#include "xsigma/profiler/record_function.h"
#include "xsigma/profiler/record_scope.h"
#include "xsigma/profiler/scope.h"
#include "xsigma/profiler/status.h"
