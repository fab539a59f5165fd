#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace xsigma::profiler::base {

Expected<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& candidates) {
  std::string tried;
  for (const std::string& candidate : candidates) {
    if (void* const handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); handle != nullptr) {
      link_map* map = nullptr;
      const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0';
      return DynamicLibrary(handle, known ? map->l_name : candidate);
    }
    const char* const why = dlerror();
    tried += fmt::format("{}{} ({})", tried.empty() ? "" : "; ", candidate, why != nullptr ? why : "no reason given");
  }
  return Status(StatusCode::not_found, fmt::format("none of these could be opened: {}", tried));
}

void* DynamicLibrary::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

}  // namespace xsigma::profiler::base
