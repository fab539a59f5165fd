// A file is whole or absent, and what was there before stays until the new one is whole.
#include "base/output_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace xsigma::profiler::base {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : folder_(testing::TempDir() + "output_file_" + std::to_string(getpid())), path_(folder_ + "/trace.json") {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  const std::string folder_;
  const std::string path_;
};

TEST_F(OutputFileTest, HoldsWhatWasWrittenAndNothingElseIsLeft) {
  Expected<OutputFile> file = OutputFile::create(path_, "the trace");
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_TRUE(file->write("one, ").ok());
  EXPECT_TRUE(file->write("").ok());
  EXPECT_TRUE(file->write("two").ok());
  EXPECT_FALSE(fs::exists(path_)) << "the file has its name before it is whole";
  EXPECT_TRUE(file->finish().ok());
  EXPECT_EQ(contents(path_), "one, two");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, APipeIsWrittenToAndStaysOne) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = contents(path_); });
  {
    Expected<OutputFile> file = OutputFile::create(path_, "the trace");
    ASSERT_TRUE(file.ok()) << file.message();
    EXPECT_TRUE(file->write("through the pipe").ok());
    EXPECT_TRUE(file->finish().ok());
  }
  reader.join();
  EXPECT_EQ(got, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path_)) << "it was replaced by a file";
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WhatALinkLeadsToIsReplacedNotTheLink) {
  const std::string target = folder_ + "/elsewhere.json";
  std::ofstream(target) << "old";
  fs::create_symlink(target, path_);
  Expected<OutputFile> file = OutputFile::create(path_, "the trace");
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_TRUE(file->write("new").ok());
  EXPECT_TRUE(file->finish().ok());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(contents(target), "new");
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFileTest, TheOldFileStaysUntilTheNewOneIsWhole) {
  std::ofstream(path_) << "old";
  {
    Expected<OutputFile> file = OutputFile::create(path_, "the trace");
    ASSERT_TRUE(file->write("new").ok());
    EXPECT_EQ(contents(path_), "old");
  }  // given up
  EXPECT_EQ(contents(path_), "old");
  EXPECT_EQ(files(), 1u) << "a temporary file was left behind";
  Expected<OutputFile> file = OutputFile::create(path_, "the trace");
  ASSERT_TRUE(file->write("new").ok());
  ASSERT_TRUE(file->finish().ok());
  EXPECT_EQ(contents(path_), "new");
}

TEST_F(OutputFileTest, AFullDiskLeavesTheOldFileAndNoTemporary) {
  std::ofstream(path_) << "old";
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    Expected<OutputFile> file = OutputFile::create(path_, "the trace");
    if (!file) _exit(2);
    const Status status = file->write(std::string(10'000, 'x'));
    const bool told = !status.ok() && status.message().find(path_) != std::string::npos && status.code() == StatusCode::io_error;
    _exit(told ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(contents(path_), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, SaysWhatIsWrongWithThePath) {
  const struct {
    std::string path;
    const char* says;
  } cases[] = {
      {folder_, "Is a directory"},
      {folder_ + "/missing/trace.json", "No such file or directory"},
      {"/proc/trace.json", "/proc/trace.json"},
      {"", "the path is empty"},
  };
  for (const auto& each : cases) {
    const Expected<OutputFile> file = OutputFile::create(each.path, "the trace");
    ASSERT_FALSE(file.ok()) << each.path;
    EXPECT_NE(file.message().find(each.says), std::string::npos) << file.message();
    EXPECT_NE(file.message().find("the trace"), std::string::npos) << file.message();
  }
  EXPECT_EQ(files(), 0u) << "folders and files are not created on the way";
}

TEST_F(OutputFileTest, TwoAtOnceDoNotMix) {
  Expected<OutputFile> first = OutputFile::create(path_, "the trace");
  Expected<OutputFile> second = OutputFile::create(path_, "the trace");
  ASSERT_TRUE(first->write("first").ok());
  ASSERT_TRUE(second->write("second").ok());
  ASSERT_TRUE(first->finish().ok());
  EXPECT_EQ(contents(path_), "first");
  ASSERT_TRUE(second->finish().ok());
  EXPECT_EQ(contents(path_), "second");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, MayMoveWhileItIsWritten) {
  Expected<OutputFile> file = OutputFile::create(path_, "the trace");
  ASSERT_TRUE(file->write("a").ok());
  OutputFile moved = std::move(*file);
  ASSERT_TRUE(moved.write("b").ok());
  ASSERT_TRUE(moved.finish().ok());
  EXPECT_EQ(contents(path_), "ab");
}

}  // namespace
}  // namespace xsigma::profiler::base
