// A disk that fills up and a file-size limit: the program runs on, and the capture says what happened.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <fstream>

#include "capture_reading.h"
#include "child_process.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

constexpr size_t kScopes = 500'000;
enum Outcome { kAsItShouldBe, kNotPermitted = 10, kWrongCount, kNoDiskFull, kOtherCause, kDoesNotOpen, kDamaged, kNotAPrefix, kStarted };

void runScopes() {
  for (size_t i = 0; i < kScopes; ++i) {
    XSIGMA_PROFILE_SCOPE("disk.step");
    if (i % 16 == 0) recordCounter("disk.number", static_cast<double>(i / 16));
  }
}

int check(const Capture& capture) {
  if (!capture.damages().empty()) return kDamaged;
  const Ledger ledger = capture.ledger();
  if (ledger.attempted != kScopes || ledger.recorded + ledger.dropped != kScopes || ledger.recorded == 0) return kWrongCount;
  if (lost(ledger, LossCause::disk_full) == 0) return kNoDiskFull;
  if (lost(ledger, LossCause::disk_full) != ledger.dropped) return kOtherCause;
  const auto values = counterValues(capture, "disk.number");
  return values.size() == 1 && countsUpFromZero(values.begin()->second) ? kAsItShouldBe : kNotAPrefix;
}

int recordInto(const std::string& path) {
  Recording recording = record({.policy = CapturePolicy::unbounded, .path = path});
  runScopes();
  const int in_memory = check(recording.stop());
  if (in_memory != kAsItShouldBe) return in_memory;
  const Expected<Capture> opened = openCapture(path);
  if (!opened) return kDoesNotOpen;
  return check(*opened);
}

bool write(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// A 2 MiB disk that only this process sees.
bool mountSmallDisk(const std::string& folder) {
  const std::string user = std::to_string(getuid());
  const std::string group = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  write("/proc/self/setgroups", "deny");
  if (!write("/proc/self/uid_map", "0 " + user + " 1") || !write("/proc/self/gid_map", "0 " + group + " 1")) return false;
  return mount("none", folder.c_str(), "tmpfs", 0, "size=2m") == 0;
}

TEST(FullDisk, IsALossTheLedgerNamesAndTheProgramRunsOn) {
  const std::string folder = temporaryPath("disk");
  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  const int outcome = runInChild([&]() -> int { return mountSmallDisk(folder) ? recordInto(folder + "/full.xst") : kNotPermitted; });
  rmdir(folder.c_str());
  if (outcome == kNotPermitted) GTEST_SKIP() << "mounting a small tmpfs in a user namespace of our own is not permitted here";
  EXPECT_EQ(outcome, kAsItShouldBe);
}

TEST(FullDisk, ThatHasNoRoomAtAllIsAnErrorAtStart) {
  const std::string folder = temporaryPath("no_room");
  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  const int outcome = runInChild([&]() -> int {
    if (!mountSmallDisk(folder)) return kNotPermitted;
    const int filler = open((folder + "/filler").c_str(), O_WRONLY | O_CREAT, 0644);
    const std::string block(4096, 'x');
    while (::write(filler, block.data(), block.size()) > 0) {
    }
    const Expected<Recording> recording = startRecording({.path = folder + "/none.xst"});
    if (recording.ok()) return kStarted;
    const bool says_so = recording.message().find("none.xst") != std::string::npos && recording.message().find("space") != std::string::npos;
    return says_so && access((folder + "/none.xst").c_str(), F_OK) != 0 ? kAsItShouldBe : kDoesNotOpen;
  });
  rmdir(folder.c_str());
  if (outcome == kNotPermitted) GTEST_SKIP() << "mounting a small tmpfs in a user namespace of our own is not permitted here";
  EXPECT_EQ(outcome, kAsItShouldBe);
}

TEST(FileSizeLimit, IsALossTheLedgerNamesAndTheProgramRunsOn) {
  const TemporaryFile file("limited.xst");
  const int outcome = runInChild([&]() -> int {
    const rlimit limit{3 << 20, 3 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return kNotPermitted;
    return recordInto(file.path);
  });
  EXPECT_EQ(outcome, kAsItShouldBe);
}

}  // namespace
}  // namespace xsigma::profiler::test
