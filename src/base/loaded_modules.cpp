#include "base/loaded_modules.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace xsigma::profiler::base {

namespace {

bool contains(const ElfW(Phdr) & segment, const ElfW(Phdr) & part) {
  return segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && part.p_vaddr >= segment.p_vaddr &&
         part.p_memsz <= segment.p_filesz && part.p_vaddr - segment.p_vaddr <= segment.p_filesz - part.p_memsz;
}

// Under the loader's lock, so that the module stays; what needs the file system is left for later.
int addModule(dl_phdr_info* info, size_t, void* to) {
  LoadedModule module{.path = info->dlpi_name != nullptr ? info->dlpi_name : "", .start = UINT64_MAX, .bias = info->dlpi_addr};
  const auto* segments_end = info->dlpi_phdr + info->dlpi_phnum;
  for (const auto* segment = info->dlpi_phdr; segment != segments_end; ++segment) {
    if (segment->p_type == PT_LOAD) {
      module.start = std::min<uint64_t>(module.start, module.bias + segment->p_vaddr);
      module.end = std::max<uint64_t>(module.end, module.bias + segment->p_vaddr + segment->p_memsz);
    }
    if (segment->p_type != PT_NOTE || !module.build_id.empty()) continue;
    if (std::none_of(info->dlpi_phdr, segments_end, [&](const auto& loaded) { return contains(loaded, *segment); })) continue;
    module.build_id =
        buildIdAmong(reinterpret_cast<const unsigned char*>(module.bias + segment->p_vaddr), segment->p_memsz, segment->p_align);
  }
  if (module.start < module.end) static_cast<std::vector<LoadedModule>*>(to)->push_back(std::move(module));
  return 0;
}

}  // namespace

std::vector<LoadedModule> loadedModules() {
  std::vector<LoadedModule> modules;
  dl_iterate_phdr(addModule, &modules);
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  for (LoadedModule& module : modules) {
    std::error_code error;
    if (vdso >= module.start && vdso < module.end) {
      module.path = "[vdso]";
    } else if (module.path.empty()) {
      module.path = std::filesystem::read_symlink("/proc/self/exe", error).string();
    } else if (module.path.front() != '/') {
      const std::filesystem::path absolute = std::filesystem::absolute(module.path, error);
      if (!error) module.path = absolute.lexically_normal().string();
    }
  }
  return modules;
}

std::string buildIdAmong(const unsigned char* notes, size_t size, size_t alignment) {
  const size_t mask = alignment == 8 ? 7 : 3;
  size_t at = 0;
  while (at < size && size - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes + at, sizeof note);
    at += sizeof note;
    // Names and descriptions are padded; both sizes are 32 bits wide, so that no sum can wrap.
    const size_t description = (at + note.n_namesz + mask) & ~mask;
    if (description > size || note.n_descsz > size - description) return {};
    const bool gnu = note.n_namesz == sizeof ELF_NOTE_GNU && std::memcmp(notes + at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) {
      std::string id;
      for (size_t i = 0; i < note.n_descsz; ++i) fmt::format_to(std::back_inserter(id), "{:02x}", notes[description + i]);
      return id;
    }
    at = (description + note.n_descsz + mask) & ~mask;
  }
  return {};
}

}  // namespace xsigma::profiler::base
