// Addresses become names, also when the library or its file is gone, and never a wrong name.
#include "assemble/symbolizer.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "assemble/demangle.h"
#include "base/native_stack.h"

using namespace xsigma::profiler;
using assemble::Symbolizer;
using base::LoadedModule;
using Frames = std::vector<uint64_t>;
namespace fs = std::filesystem;

namespace outer {

[[gnu::noinline]] Frames innermost(unsigned skip) {
  Frames frames(base::kMostStackFrames, 0);
  frames.resize(base::captureStack(frames.data(), frames.size(), skip));
  asm volatile("" ::: "memory");
  return frames;
}

// Static: only .symtab knows it.
[[gnu::noinline]] static Frames middle(unsigned skip, const char*) {
  Frames frames = innermost(skip);
  asm volatile("" : : "r"(&frames) : "memory");
  return frames;
}

template <class T>
[[gnu::noinline]] Frames outermost(T skip) {
  Frames frames = middle(skip, "");
  asm volatile("" : : "r"(&frames), "r"(skip) : "memory");
  return frames;
}

[[gnu::noinline]] Frames recursion(int depth) {
  Frames frames = depth > 1 ? recursion(depth - 1) : innermost(0);
  asm volatile("" : : "r"(&frames), "r"(depth) : "memory");
  return frames;
}

}  // namespace outer

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string readFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The library's stack, recorded while it was loaded, and a copy of its file that a test may harm.
class UnloadedLibrary : public testing::Test {
 protected:
  static constexpr const char* kPath = XSIGMA_TEST_SYMBOLIZED_LIBRARY;

  void SetUp() override {
    void* library = dlopen(kPath, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    using Step = size_t (*)(decltype(&base::captureStack), uint64_t*, size_t);
    const auto step = reinterpret_cast<Step>(dlsym(library, "exportedStep"));
    ASSERT_NE(step, nullptr);
    frames_.resize(base::kMostStackFrames);
    frames_.resize(step(base::captureStack, frames_.data(), frames_.size()));
    modules_ = base::loadedModules();
    dlclose(library);
    ASSERT_GT(frames_.size(), 3U);
    for (LoadedModule& module : modules_) {
      if (frames_[0] >= module.start && frames_[0] < module.end) module_ = &module;
    }
    ASSERT_NE(module_, nullptr);

    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("symbolizer_" + std::to_string(getpid()) + "_" + test->name());
    fs::create_directories(folder_);
    copy_ = folder_ / "libcopy.so";
    original_ = readFile(kPath);
    writeFile(copy_, original_);
    char text[64];
    std::snprintf(text, sizeof text, "0x%llx (libcopy.so)", static_cast<unsigned long long>(frames_[0] - module_->bias));
    fallback_ = text;
    // Where a test harms the copy, the id must not be what saves it.
    copied_ = {*module_};
    copied_[0].path = copy_.string();
    copied_[0].build_id.clear();
    named_ = Symbolizer(copied_, kNowhere).describe(frames_[0]);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string describeCopy() const { return Symbolizer(copied_, kNowhere).describe(frames_[0]); }

  // The file without its .symtab, as strip leaves it.
  std::string stripped() const {
    std::string bytes = original_;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (size_t i = 0; i < header.e_shnum; ++i) {
      char* type = bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_type);
      uint32_t value;
      std::memcpy(&value, type, sizeof value);
      if (value == SHT_SYMTAB) std::memset(type, 0, sizeof value);
    }
    return bytes;
  }

  static constexpr const char* kNowhere = "/nowhere";

  Frames frames_;
  std::vector<LoadedModule> modules_;
  LoadedModule* module_ = nullptr;
  fs::path folder_;
  fs::path copy_;
  std::string original_;
  std::string fallback_;
  std::string named_;
  std::vector<LoadedModule> copied_;
};

}  // namespace

TEST(Symbolizer, NamesNestedCallsInnermostFirst) {
  const Frames frames = outer::outermost(0U);
  const Symbolizer symbolizer(base::loadedModules());
  ASSERT_GT(frames.size(), 4U);
  EXPECT_TRUE(symbolizer.describe(frames[0]).starts_with("outer::innermost(unsigned int)+0x")) << symbolizer.describe(frames[0]);
  EXPECT_TRUE(contains(symbolizer.describe(frames[1]), "outer::middle(")) << symbolizer.describe(frames[1]);
  EXPECT_TRUE(contains(symbolizer.describe(frames[2]), "outer::outermost<unsigned int>(")) << symbolizer.describe(frames[2]);
  EXPECT_TRUE(contains(symbolizer.describe(frames[3]), "NamesNestedCallsInnermostFirst")) << symbolizer.describe(frames[3]);
  const std::string program = " (" + fs::read_symlink("/proc/self/exe").filename().string() + ")";
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(symbolizer.describe(frames[i]).ends_with(program)) << symbolizer.describe(frames[i]);

  const Frames skipped = outer::outermost(2U);
  ASSERT_GT(skipped.size(), 2U);
  EXPECT_TRUE(contains(symbolizer.describe(skipped[0]), "outer::outermost<unsigned int>(")) << symbolizer.describe(skipped[0]);
}

TEST(Symbolizer, NamesEveryLevelOfARecursion) {
  const Frames frames = outer::recursion(100);
  const Symbolizer symbolizer(base::loadedModules());
  ASSERT_EQ(frames.size(), 64U);
  for (size_t i = 1; i < frames.size(); ++i) {
    EXPECT_TRUE(contains(symbolizer.describe(frames[i]), "outer::recursion(int)")) << i << ": " << symbolizer.describe(frames[i]);
  }
}

TEST(Symbolizer, AReturnAddressBelongsToTheCallBeforeIt) {
  const Symbolizer symbolizer(base::loadedModules());
  const auto start = reinterpret_cast<uint64_t>(&outer::recursion);
  EXPECT_TRUE(symbolizer.describe(start + 1).starts_with("outer::recursion(int)+0x1 (")) << symbolizer.describe(start + 1);
  EXPECT_FALSE(contains(symbolizer.describe(start), "outer::recursion(int)")) << symbolizer.describe(start);
}

TEST(Symbolizer, PrefersTheNameThatUsersKnow) {
  const Symbolizer symbolizer(base::loadedModules());
  const auto address = reinterpret_cast<uint64_t>(dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "write"));
  EXPECT_TRUE(symbolizer.describe(address + 4).starts_with("write+0x4 (libc")) << symbolizer.describe(address + 4);
}

TEST(Symbolizer, OutsideOfAllModulesThereIsOnlyTheAddress) {
  const Symbolizer symbolizer({});
  EXPECT_EQ(symbolizer.describe(0x7f0012345678), "0x7f0012345678");
  EXPECT_EQ(symbolizer.describe(0), "0x0");
  EXPECT_EQ(symbolizer.describe(UINT64_MAX), "0xffffffffffffffff");
}

TEST(Symbolizer, LongOrTrickyNamesStayAsTheyAre) {
  EXPECT_EQ(assemble::demangle("_ZN2ns8functionEi"), "ns::function(int)");
  EXPECT_EQ(assemble::demangle("main"), "main");
  EXPECT_EQ(assemble::demangle("_Znonsense?"), "_Znonsense?");
  const std::string longest = "_Z9000" + std::string(9000, 'a') + "v";
  EXPECT_EQ(assemble::demangle(longest), longest);
  // Each argument is a pair of the one before: written out, 2^60 ints.
  std::string bomb = "_Z1f1AIiiE";
  for (int i = 0; i < 60; ++i) {
    const std::string digits = i < 36 ? std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i])
                                      : "1" + std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 36]);
    bomb += "S_IS" + digits + "_S" + digits + "_E";
  }
  EXPECT_EQ(assemble::demangle(bomb), bomb);
}

TEST_F(UnloadedLibrary, KeepsItsNames) {
  const Symbolizer symbolizer(modules_);
  const std::string file = " (" + fs::path(kPath).filename().string() + ")";
  EXPECT_TRUE(contains(symbolizer.describe(frames_[0]), "symbolized::hiddenStep(")) << symbolizer.describe(frames_[0]);
  EXPECT_TRUE(symbolizer.describe(frames_[1]).starts_with("exportedStep+0x")) << symbolizer.describe(frames_[1]);
  EXPECT_TRUE(symbolizer.describe(frames_[1]).ends_with(file)) << symbolizer.describe(frames_[1]);
  EXPECT_TRUE(contains(named_, "symbolized::hiddenStep(")) << named_;
}

TEST_F(UnloadedLibrary, IsNotNamedAfterAnotherBuild) {
  copied_[0].build_id = module_->build_id;
  EXPECT_EQ(describeCopy(), named_);
  copied_[0].build_id = "0123456789abcdef0123456789abcdef01234567";
  EXPECT_EQ(describeCopy(), fallback_);
}

TEST_F(UnloadedLibrary, LaterModulesHideEarlierOnes) {
  LoadedModule later = copied_[0];
  later.path = "/nowhere/libcopy.so";
  copied_.push_back(later);
  EXPECT_EQ(describeCopy(), fallback_);
}

TEST_F(UnloadedLibrary, IsAnOffsetWhereItsFileIsGoneOrIsNoFile) {
  fs::remove(copy_);
  EXPECT_EQ(describeCopy(), fallback_);
  ASSERT_EQ(mkfifo(copy_.c_str(), 0600), 0);
  EXPECT_EQ(describeCopy(), fallback_);
  fs::remove(copy_);
  fs::create_directory(copy_);
  EXPECT_EQ(describeCopy(), fallback_);
  copied_[0].path = "libcopy.so";
  EXPECT_EQ(describeCopy(), fallback_);
}

TEST_F(UnloadedLibrary, StrippedHasExportedNamesOnly) {
  writeFile(copy_, stripped());
  EXPECT_FALSE(contains(describeCopy(), "hiddenStep")) << describeCopy();
  EXPECT_TRUE(Symbolizer(copied_, kNowhere).describe(frames_[1]).starts_with("exportedStep+0x"));
}

TEST_F(UnloadedLibrary, StrippedIsNamedByItsDebugFile) {
  if (module_->build_id.empty()) GTEST_SKIP() << "this linker writes no build ids";
  const std::string id = module_->build_id;
  const fs::path debug = folder_ / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug");
  fs::create_directories(debug.parent_path());
  writeFile(debug, original_);
  writeFile(copy_, stripped());
  EXPECT_EQ(Symbolizer(copied_, folder_.string()).describe(frames_[0]), named_) << "with the file's id";
  copied_[0].build_id = id;
  EXPECT_EQ(Symbolizer(copied_, folder_.string()).describe(frames_[0]), named_);
  fs::remove(copy_);
  EXPECT_EQ(Symbolizer(copied_, folder_.string()).describe(frames_[0]), named_) << "without the file";

  std::string other = original_;
  const size_t at = other.find("GNU\0", other.find(std::string("\3\0\0\0GNU\0", 8)));
  ASSERT_NE(at, std::string::npos);
  other[at + 4] ^= 1;  // the debug file of another build
  writeFile(debug, other);
  EXPECT_EQ(Symbolizer(copied_, folder_.string()).describe(frames_[0]), fallback_);
  copied_[0].build_id = "../../../etc/passwd";
  EXPECT_EQ(Symbolizer(copied_, folder_.string()).describe(frames_[0]), fallback_);
}

TEST_F(UnloadedLibrary, CutAnywhereIsAnOffset) {
  ASSERT_EQ(describeCopy(), named_);
  Elf64_Ehdr header;
  std::memcpy(&header, original_.data(), sizeof header);
  const size_t table_end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  size_t cuts = 0;
  for (size_t size = (original_.size() - 1) / 64 * 64;; size -= 64, ++cuts) {
    ASSERT_EQ(truncate(copy_.c_str(), static_cast<off_t>(size)), 0);
    ASSERT_EQ(describeCopy(), size < table_end ? fallback_ : named_) << size << " of " << original_.size();
    if (size == 0) break;
  }
  EXPECT_GT(cuts, 50U);
}

TEST_F(UnloadedLibrary, GarbageIsAnOffset) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string garbage(random() % 20000, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    if (round % 2 == 1) garbage.replace(0, std::min<size_t>(garbage.size(), 64), original_, 0, std::min<size_t>(garbage.size(), 64));
    writeFile(copy_, garbage);
    ASSERT_EQ(describeCopy(), fallback_) << round;
  }
}

// Every byte of the tables, set to values that make sizes and offsets wrap.
TEST_F(UnloadedLibrary, DamagedTablesCostNamesOnly) {
  Elf64_Ehdr header;
  std::memcpy(&header, original_.data(), sizeof header);
  std::vector<size_t> places;
  for (size_t at = 0; at < sizeof header; ++at) places.push_back(at);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    const size_t at = header.e_shoff + i * sizeof section;
    std::memcpy(&section, original_.data() + at, sizeof section);
    const bool read =
        section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM || section.sh_type == SHT_STRTAB || section.sh_type == SHT_NOTE;
    for (size_t byte = 0; byte < sizeof section && read; ++byte) places.push_back(at + byte);
    const bool symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    for (size_t byte = 0; symbols && byte < section.sh_size; byte += 5) places.push_back(section.sh_offset + byte);
  }
  const std::string file_name = " (libcopy.so)";
  size_t lost = 0;
  for (const size_t place : places) {
    for (const char value : {'\0', '\x7F', '\xFF'}) {
      std::fstream(copy_, std::ios::binary | std::ios::in | std::ios::out).seekp(static_cast<std::streamoff>(place)).put(value);
      const std::string text = describeCopy();
      ASSERT_TRUE(text.ends_with(file_name)) << place << ": " << text;
      if (text != named_) ++lost;
    }
    std::fstream(copy_, std::ios::binary | std::ios::in | std::ios::out).seekp(static_cast<std::streamoff>(place)).put(original_[place]);
  }
  EXPECT_EQ(describeCopy(), named_);
  EXPECT_GT(lost, 10U);
  EXPECT_LT(lost, places.size() * 3);
}

TEST_F(UnloadedLibrary, ManyThreadsAskAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const Symbolizer symbolizer(modules_);
    std::vector<std::vector<std::string>> answers(8);
    std::vector<std::thread> threads;
    for (auto& answer : answers) {
      threads.emplace_back([&] {
        for (int again = 0; again < 3; ++again) {
          for (const uint64_t frame : frames_) answer.push_back(symbolizer.describe(frame));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(contains(answers[0][0], "symbolized::hiddenStep("));
    for (const auto& answer : answers) EXPECT_EQ(answer, answers[0]);
  }
}
