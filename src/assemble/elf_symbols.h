// The functions of one ELF file, by address. The file is not trusted: whatever is wrong with it, there are only fewer names.
#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xsigma::profiler::assemble {

class ElfSymbols {
 public:
  // Maps the file; it stays mapped. Empty unless its build id is the given one (an empty one: any). Throws std::bad_alloc.
  ElfSymbols(const std::string& path, std::string_view build_id);
  ~ElfSymbols();
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  struct Function {
    std::string_view name;  // as linked; points into the file
    uint64_t start = 0;
  };
  // The function that covers the address, which counts as in the file's tables.
  std::optional<Function> find(uint64_t address) const;

  bool hasSymtab() const { return has_symtab_; }  // .symtab names static functions too, .dynsym only what is exported
  const std::string& buildId() const { return build_id_; }

 private:
  struct Symbol {
    uint64_t start;
    uint64_t end;
    uint32_t name;
    uint8_t table;  // of strings_
    bool local;
    bool sized;
  };

  void map(const std::string& path);
  void unmap();
  void load(std::string_view expected_build_id);
  std::vector<Elf64_Shdr> readSections() const;
  std::string readBuildId(const std::vector<Elf64_Shdr>& sections) const;
  void addSymbols(const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& table, uint8_t number);
  void sortSymbols();
  std::string_view bytes(uint64_t offset, uint64_t size) const;  // empty when not all of them are in the file
  std::string_view nameOf(const Symbol& symbol) const;
  bool isBetter(const Symbol& candidate, const Symbol& other) const;

  const char* data_ = nullptr;
  size_t size_ = 0;
  bool has_symtab_ = false;
  std::string build_id_;
  std::array<std::string_view, 2> strings_;  // of .symtab, of .dynsym
  std::vector<Symbol> symbols_;              // by start
};

}  // namespace xsigma::profiler::assemble
