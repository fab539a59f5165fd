// Which function an address belongs to, on files made by hand.
#include "assemble/elf_symbols.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "assemble/symbolizer.h"

using xsigma::profiler::assemble::ElfSymbols;
using xsigma::profiler::assemble::Symbolizer;

namespace {

// A file with three sections: code at [0x1000, 0x2000), symbols, strings.
class ElfFile {
 public:
  ElfFile() {
    sections_[1].sh_type = SHT_PROGBITS;
    sections_[1].sh_addr = 0x1000;
    sections_[1].sh_size = 0x1000;
  }
  ~ElfFile() { std::filesystem::remove(path_); }

  void add(const std::string& name, uint64_t start, uint64_t size, unsigned char binding = STB_GLOBAL, unsigned char type = STT_FUNC) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<uint32_t>(strings_.size());
    symbol.st_info = ELF64_ST_INFO(binding, type);
    symbol.st_shndx = 1;
    symbol.st_value = start;
    symbol.st_size = size;
    symbols_.push_back(symbol);
    strings_ += name + '\0';
  }

  std::string nameAt(uint64_t address) {
    write();
    const ElfSymbols symbols(path_, "");
    const auto function = symbols.find(address);
    return function ? std::string(function->name) : "none";
  }

  void write() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shoff = sizeof header;
    sections_[2].sh_type = SHT_SYMTAB;
    sections_[2].sh_link = 3;
    sections_[2].sh_entsize = sizeof(Elf64_Sym);
    sections_[2].sh_offset = sizeof header + sizeof sections_;
    sections_[2].sh_size = symbols_size_ != 0 ? symbols_size_ : symbols_.size() * sizeof(Elf64_Sym);
    sections_[3].sh_type = SHT_STRTAB;
    sections_[3].sh_offset = sections_[2].sh_offset + symbols_.size() * sizeof(Elf64_Sym);
    sections_[3].sh_size = strings_.size();
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    const auto put = [&](const void* data, size_t size) { out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size)); };
    put(&header, sizeof header);
    put(sections_, sizeof sections_);
    put(symbols_.data(), symbols_.size() * sizeof(Elf64_Sym));
    put(strings_.data(), strings_.size());
  }

  std::string path_ = std::filesystem::temp_directory_path() / ("elf_symbols_" + std::to_string(getpid()));
  std::vector<Elf64_Sym> symbols_;
  std::string strings_ = std::string(1, '\0');
  uint64_t symbols_size_ = 0;
  Elf64_Shdr sections_[4] = {};
};

}  // namespace

TEST(ElfSymbols, BetweenFunctionsThereIsNoName) {
  ElfFile file;
  file.add("first", 0x1000, 0x10);
  file.add("second", 0x1020, 0x10);
  EXPECT_EQ(file.nameAt(0xFFF), "none");
  EXPECT_EQ(file.nameAt(0x100F), "first");
  EXPECT_EQ(file.nameAt(0x1010), "none");
  EXPECT_EQ(file.nameAt(0x1020), "second");
  EXPECT_EQ(file.nameAt(0x1030), "none");
}

TEST(ElfSymbols, TheInnermostOfNestedFunctionsCounts) {
  ElfFile file;
  file.add("around", 0x1000, 0x100);
  file.add("within", 0x1020, 0x10, STB_LOCAL);
  EXPECT_EQ(file.nameAt(0x1028), "within");
  EXPECT_EQ(file.nameAt(0x1038), "around");
}

TEST(ElfSymbols, OfSeveralNamesTheOneThatUsersKnowCounts) {
  ElfFile file;
  file.add("local", 0x1000, 0x10, STB_LOCAL);
  file.add("__write", 0x1000, 0x10);
  file.add("write@@V_2", 0x1000, 0x10, STB_WEAK);
  file.add("_write", 0x1000, 0x10);
  file.add("sizeless", 0x1000, 0);
  EXPECT_EQ(file.nameAt(0x1008), "write");
}

TEST(ElfSymbols, WithoutASizeItEndsAtTheNextFunctionOrTheSection) {
  ElfFile file;
  file.add("open", 0x1000, 0);
  file.add("next", 0x1020, 0x10);
  file.add("last", 0x1080, 0);
  EXPECT_EQ(file.nameAt(0x101F), "open");
  EXPECT_EQ(file.nameAt(0x1035), "none");
  EXPECT_EQ(file.nameAt(0x1FFF), "last");
  EXPECT_EQ(file.nameAt(0x2000), "none");
}

TEST(ElfSymbols, DataAndMappingSymbolsAreNoFunctions) {
  ElfFile file;
  file.add("table", 0x1000, 0x10, STB_GLOBAL, STT_OBJECT);
  file.add("$x", 0x1000, 0x10, STB_LOCAL, STT_NOTYPE);
  EXPECT_EQ(file.nameAt(0x1008), "none");
}

TEST(ElfSymbols, DamageCostsTheDamagedNameOnly) {
  ElfFile file;
  file.add("good", 0x1000, 0x10);
  file.add("wraps", 0x1100, UINT64_MAX - 0x10);
  file.add("unterminated", 0x1200, 0x10);
  file.strings_.pop_back();
  EXPECT_EQ(file.nameAt(0x1008), "good");
  EXPECT_EQ(file.nameAt(0x1108), "none");
  EXPECT_EQ(file.nameAt(0x1208), "none");
  file.symbols_[1].st_name = UINT32_MAX;
  EXPECT_EQ(file.nameAt(0x1008), "good");
}

TEST(ElfSymbols, ATableWhoseEndWrapsIsNotRead) {
  ElfFile file;
  file.add("good", 0x1000, 0x10);
  ASSERT_EQ(file.nameAt(0x1008), "good");
  file.symbols_size_ = UINT64_MAX - 100;  // its offset is above 100
  EXPECT_EQ(file.nameAt(0x1008), "none");
}

TEST(Symbolizer, ReadsNoFileByARelativePath) {
  ElfFile file;
  file.add("_ZN2ns8functionEi", 0x1000, 0x40);
  file.write();
  const auto describe = [&](const std::string& path) {
    return Symbolizer({{.path = path, .start = 0x5000, .end = 0x9000, .bias = 0x5000}}).describe(0x601c);
  };
  const std::string name = std::filesystem::path(file.path_).filename();
  EXPECT_EQ(describe(file.path_), "ns::function(int)+0x1c (" + name + ")");
  EXPECT_EQ(describe(std::filesystem::relative(file.path_).string()), "0x101c (" + name + ")");
}
