// The same headers by their short path.
#include "profiler/scope.h"

void scopeFromSeedSpelling() { XSIGMA_PROFILE_SCOPE("seed spelling"); }
