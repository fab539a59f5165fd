#include "assemble/elf_symbols.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/loaded_modules.h"

namespace xsigma::profiler::assemble {

namespace {

constexpr uint64_t kMostSymbols = uint64_t{1} << 24;  // of a table; the largest libraries have a tenth
constexpr int kMostSteps = 64;                        // back from an address, over functions that share a start or end before it

template <class T>
T copyFrom(std::string_view bytes, size_t index = 0) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool isFunction(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  const bool placed = symbol.st_shndx != SHN_UNDEF && (symbol.st_shndx < SHN_LORESERVE || symbol.st_shndx == SHN_XINDEX);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && placed;
}

}  // namespace

ElfSymbols::ElfSymbols(const std::string& path, std::string_view build_id) {
  map(path);
  try {
    load(build_id);
  } catch (...) {
    unmap();
    throw;
  }
  if (symbols_.empty()) unmap();
}

ElfSymbols::~ElfSymbols() { unmap(); }

void ElfSymbols::map(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // a pipe of that name must not hold us up
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    void* data = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      data_ = static_cast<const char*>(data);
      size_ = static_cast<size_t>(status.st_size);
    }
  }
  close(file);
}

void ElfSymbols::unmap() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  data_ = nullptr;
  size_ = 0;
}

std::string_view ElfSymbols::bytes(uint64_t offset, uint64_t size) const {
  if (offset > size_ || size > size_ - offset) return {};
  return {data_ + offset, static_cast<size_t>(size)};
}

void ElfSymbols::load(std::string_view expected_build_id) {
  const std::vector<Elf64_Shdr> sections = readSections();
  build_id_ = readBuildId(sections);
  // A file without an id is not the one that had it either.
  if (!expected_build_id.empty() && build_id_ != expected_build_id) return;
  const auto first = [&](uint32_t type) {
    return std::find_if(sections.begin(), sections.end(), [type](const Elf64_Shdr& section) { return section.sh_type == type; });
  };
  if (const auto table = first(SHT_SYMTAB); table != sections.end()) addSymbols(sections, *table, 0);
  has_symtab_ = !symbols_.empty();
  if (const auto table = first(SHT_DYNSYM); table != sections.end()) addSymbols(sections, *table, 1);
  sortSymbols();
}

std::vector<Elf64_Shdr> ElfSymbols::readSections() const {
  const std::string_view start = bytes(0, sizeof(Elf64_Ehdr));
  if (start.empty()) return {};
  const auto header = copyFrom<Elf64_Ehdr>(start);
  const bool readable = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                        header.e_ident[EI_DATA] == ELFDATA2LSB && (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
                        header.e_shentsize == sizeof(Elf64_Shdr);
  const std::string_view head = bytes(header.e_shoff, sizeof(Elf64_Shdr));
  if (!readable || head.empty()) return {};
  // Where 16 bits do not hold the number, the first section's size does.
  const uint64_t count = header.e_shnum != 0 ? header.e_shnum : copyFrom<Elf64_Shdr>(head).sh_size;
  if (count > size_ / sizeof(Elf64_Shdr)) return {};
  const std::string_view table = bytes(header.e_shoff, count * sizeof(Elf64_Shdr));
  if (table.empty()) return {};
  std::vector<Elf64_Shdr> sections(count);
  std::memcpy(sections.data(), table.data(), table.size());
  return sections;
}

std::string ElfSymbols::readBuildId(const std::vector<Elf64_Shdr>& sections) const {
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_NOTE) continue;
    const std::string_view notes = bytes(section.sh_offset, section.sh_size);
    std::string id = base::buildIdAmong(reinterpret_cast<const unsigned char*>(notes.data()), notes.size(), section.sh_addralign);
    if (!id.empty()) return id;
  }
  return {};
}

void ElfSymbols::addSymbols(const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& table, uint8_t number) {
  const std::string_view entries = bytes(table.sh_offset, table.sh_size);
  if (entries.empty() || table.sh_entsize != sizeof(Elf64_Sym) || table.sh_link >= sections.size()) return;
  const Elf64_Shdr& strings = sections[table.sh_link];
  if (strings.sh_type != SHT_STRTAB) return;
  strings_[number] = bytes(strings.sh_offset, strings.sh_size);

  const size_t count = std::min<uint64_t>(entries.size() / sizeof(Elf64_Sym), kMostSymbols);
  for (size_t i = 0; i < count; ++i) {
    const auto entry = copyFrom<Elf64_Sym>(entries, i);
    if (!isFunction(entry) || entry.st_name >= strings_[number].size()) continue;
    uint64_t end = entry.st_value + entry.st_size;
    // Hand-written assembly often gives no size: as far as the next function (see sortSymbols), but not out of the section.
    if (entry.st_size == 0 && entry.st_shndx < sections.size()) end = sections[entry.st_shndx].sh_addr + sections[entry.st_shndx].sh_size;
    if (end <= entry.st_value) continue;
    symbols_.push_back({.start = entry.st_value,
                        .end = end,
                        .name = entry.st_name,
                        .table = number,
                        .local = ELF64_ST_BIND(entry.st_info) == STB_LOCAL,
                        .sized = entry.st_size != 0});
  }
}

void ElfSymbols::sortSymbols() {
  const auto order = [](const Symbol& s) { return std::tie(s.start, s.table, s.name, s.end); };
  std::sort(symbols_.begin(), symbols_.end(), [&](const Symbol& a, const Symbol& b) { return order(a) < order(b); });
  symbols_.shrink_to_fit();
  uint64_t next = UINT64_MAX;  // the nearest start above the symbol's own
  for (size_t i = symbols_.size(); i-- > 0;) {
    if (i + 1 < symbols_.size() && symbols_[i + 1].start != symbols_[i].start) next = symbols_[i + 1].start;
    if (!symbols_[i].sized) symbols_[i].end = std::min(symbols_[i].end, next);
  }
}

std::string_view ElfSymbols::nameOf(const Symbol& symbol) const {
  const std::string_view rest = strings_[symbol.table].substr(symbol.name);
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return {};
  const std::string_view name = rest.substr(0, end);
  return name.substr(0, name.find('@', 1));  // without its version
}

// Of names for one place, the one that its users know: exported, and with fewer underscores in front (write, not __libc_write).
bool ElfSymbols::isBetter(const Symbol& candidate, const Symbol& other) const {
  const auto rank = [this](const Symbol& symbol) {
    return std::make_tuple(!symbol.sized, symbol.local, nameOf(symbol).find_first_not_of('_'));
  };
  return rank(candidate) < rank(other);
}

std::optional<ElfSymbols::Function> ElfSymbols::find(uint64_t address) const {
  auto at = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                             [](uint64_t value, const Symbol& symbol) { return value < symbol.start; });
  const Symbol* best = nullptr;
  for (int step = 0; step < kMostSteps && at != symbols_.begin(); ++step) {
    --at;
    if (best != nullptr && at->start != best->start) break;
    if (address >= at->end || nameOf(*at).empty()) continue;
    if (best == nullptr || isBetter(*at, *best)) best = &*at;
  }
  if (best == nullptr) return std::nullopt;
  return Function{.name = nameOf(*best), .start = best->start};
}

}  // namespace xsigma::profiler::assemble
