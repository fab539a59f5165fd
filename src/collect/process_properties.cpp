#include "collect/process_properties.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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
  const Launcher* chosen = nullptr;
  // One that tells rank and size, if there is one; some that start others tell the rank alone.
  for (const bool with_size : {true, false}) {
    for (const Launcher& launcher : kLaunchers) {
      const bool fits = environmentNumber(launcher.rank) && (!with_size || environmentNumber(launcher.size));
      if (chosen == nullptr && fits) chosen = &launcher;
    }
  }
  if (chosen == nullptr) return R"({"backend": "", "rank": 0, "world_size": 1})";
  constexpr int64_t kMostRank = INT32_MAX;
  const int64_t rank = std::min(*environmentNumber(chosen->rank), kMostRank);
  const int64_t size = environmentNumber(chosen->size).value_or(rank + 1);
  std::string out = fmt::format("{{\"backend\": \"\", \"rank\": {}, \"world_size\": {}, \"launcher\": \"{}\"", rank, size, chosen->name);
  if (const auto local = environmentNumber(chosen->local_rank)) out += fmt::format(", \"local_rank\": {}", *local);
  return out + "}";
}

void addProcessProperties(capture::Sink& sink) {
  sink.addProperty("distributedInfo", distributedInfo());
  sink.addProperty("host_name", base::quoted(hostName()));
  sink.addProperty("process_name", base::quoted(program_invocation_short_name));
}

}  // namespace xsigma::profiler::collect
