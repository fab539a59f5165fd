#include "inject/capture_path.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/environment.h"
#include "collect/follow_fork.h"

namespace xsigma::profiler::inject {
namespace {

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// Captures are locked as long as they are written.
bool isBeingWritten(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool busy = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return busy;
}

// The program's own copy of the library goes by the same variable, and must find the file free.
bool programHasLibrary() {
  const auto is_library = [](dl_phdr_info* info, size_t, void*) -> int {
    return std::strstr(info->dlpi_name, "/libxsigma_profiler.so") != nullptr;
  };
  return dl_iterate_phdr(is_library, nullptr) != 0;
}

}  // namespace

std::string expandPath(std::string_view pattern, int process_id, std::string_view host) {
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    switch (next) {
      case 'p': path += fmt::to_string(process_id); break;
      case 'h': path += host; break;
      case '%': path += '%'; break;
      default: path += pattern[i]; continue;
    }
    ++i;
  }
  return path;
}

std::string capturePath() {
  const std::optional<std::string> named = base::environmentText("XSIGMA_PROFILER_FILE");
  std::string path = expandPath(named.value_or(fmt::format("xsp.{}.%p.xst", program_invocation_short_name)), getpid(), hostName());
  // Of several programs that one runs, each gets its own file: the first takes the name, and says so to the others.
  constexpr const char* kFirst = "XSP_FIRST_PROCESS";
  const std::string own = fmt::to_string(getpid());
  const std::optional<std::string> first = base::environmentText(kFirst);
  if (!first) setenv(kFirst, own.c_str(), 1);
  const bool taken = path == named && (programHasLibrary() || (first && *first != own));
  std::error_code failed;
  if (const auto absolute = std::filesystem::absolute(path, failed); !failed) path = absolute.lexically_normal();
  return taken || isBeingWritten(path) ? collect::childPath(path, getpid()) : path;
}

}  // namespace xsigma::profiler::inject
