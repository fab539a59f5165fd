// What this folder uses of the vendor's headers: types and numbers, never a function by its name. <cupti.h> itself is left out: it wants headers that not every
// package of them has.
#pragma once

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>
