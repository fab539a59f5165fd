#include "assemble/symbolizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "assemble/demangle.h"
#include "assemble/elf_symbols.h"

namespace xsigma::profiler::assemble {

namespace {

// Empty unless the id is one: it may come from a damaged capture, and it becomes a path.
std::string debugFile(const std::string& directory, std::string_view build_id) {
  const bool is_id =
      build_id.size() > 2 && build_id.size() <= 128 && build_id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_id ? fmt::format("{}/.build-id/{}/{}.debug", directory, build_id.substr(0, 2), build_id.substr(2)) : std::string();
}

std::string fileName(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return std::string(name.empty() ? "?" : name);
}

}  // namespace

class Symbolizer::Module {
 public:
  Module(base::LoadedModule loaded, const std::string& debug_directory)
      : loaded_(std::move(loaded)), file_name_(fileName(loaded_.path)), debug_directory_(debug_directory) {}

  bool covers(uint64_t address) const { return address >= loaded_.start && address < loaded_.end; }

  std::string describe(uint64_t return_address) {
    std::call_once(loaded_once_, [this] { load(); });
    const uint64_t address = return_address - loaded_.bias;
    // The call may have been the function's last instruction: what follows it can be another function.
    std::optional<ElfSymbols::Function> function;
    if (debug_) function = debug_->find(address - 1);
    if (!function && file_) function = file_->find(address - 1);
    if (!function) return fmt::format("{:#x} ({})", address, file_name_);
    return fmt::format("{}+{:#x} ({})", demangle(function->name), address - function->start, file_name_);
  }

 private:
  void load() {
    // Only whole paths: others would mean another file in every directory.
    if (loaded_.path.starts_with('/')) file_ = std::make_unique<ElfSymbols>(loaded_.path, loaded_.build_id);
    if (file_ && file_->hasSymtab()) return;
    const std::string& build_id = !loaded_.build_id.empty() || !file_ ? loaded_.build_id : file_->buildId();
    const std::string path = debugFile(debug_directory_, build_id);
    if (!path.empty()) debug_ = std::make_unique<ElfSymbols>(path, build_id);
  }

  base::LoadedModule loaded_;
  std::string file_name_;
  std::string debug_directory_;
  std::once_flag loaded_once_;
  std::unique_ptr<ElfSymbols> file_;
  std::unique_ptr<ElfSymbols> debug_;
};

Symbolizer::Symbolizer(std::vector<base::LoadedModule> modules, std::string debug_directory) {
  modules_.reserve(modules.size());
  for (base::LoadedModule& module : modules) modules_.push_back(std::make_unique<Module>(std::move(module), debug_directory));
}

Symbolizer::~Symbolizer() = default;

std::string Symbolizer::describe(uint64_t return_address) const {
  {
    const std::shared_lock lock(mutex_);
    const auto known = described_.find(return_address);
    if (known != described_.end()) return known->second;
  }
  std::string text = describeAnew(return_address);
  const std::unique_lock lock(mutex_);
  return described_.try_emplace(return_address, std::move(text)).first->second;
}

std::string Symbolizer::describeAnew(uint64_t return_address) const {
  const auto module =
      std::find_if(modules_.rbegin(), modules_.rend(), [&](const auto& candidate) { return candidate->covers(return_address - 1); });
  return module != modules_.rend() ? (*module)->describe(return_address) : fmt::format("{:#x}", return_address);
}

}  // namespace xsigma::profiler::assemble
