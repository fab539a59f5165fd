// A plug-in whose names and source places go away with it.
#include "xsigma/profiler/profiler.h"

extern "C" __attribute__((visibility("default"))) void pluginStep() {
  XSIGMA_PROFILE_SCOPE("plugin.static_name");
  char name[] = "plugin.dynamic_name";
  XSIGMA_PROFILE_SCOPE_DYNAMIC(std::string_view(name));
}
