#include "collect/process_properties.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "base/environment.h"
#include "base/json_text.h"

namespace xsigma::profiler::collect {
namespace {

std::optional<int64_t> environmentNumber(const char* name) {
  const std::optional<std::string> text = base::environmentText(name);
  if (!text) return {};
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0) return {};
  return value;
}

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
};

// The first whose rank is set; those that start others come later.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"pmix", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

std::string hostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

std::string distributedInfo() {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int64_t> rank = environmentNumber(launcher.rank);
    if (!rank) continue;
    const int64_t size = environmentNumber(launcher.size).value_or(*rank + 1);
    std::string out = fmt::format("{{\"backend\": \"\", \"rank\": {}, \"world_size\": {}, \"launcher\": \"{}\"", *rank, size, launcher.name);
    if (const auto local = environmentNumber(launcher.local_rank)) out += fmt::format(", \"local_rank\": {}", *local);
    return out + "}";
  }
  return R"({"backend": "", "rank": 0, "world_size": 1})";
}

void addProcessProperties(capture::Sink& sink) {
  sink.addProperty("distributedInfo", distributedInfo());
  sink.addProperty("host_name", base::quoted(hostName()));
  sink.addProperty("process_name", base::quoted(program_invocation_short_name));
}

}  // namespace xsigma::profiler::collect
