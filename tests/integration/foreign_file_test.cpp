// Files that are no captures, or captures of other versions.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/checksum.h"
#include "capture/block_walk.h"
#include "capture/format.h"
#include "capture/segment_index.h"
#include "damaged_capture.h"

namespace xsigma::profiler::test {
namespace {

using namespace capture;

void expectRefused(const std::string& path, StatusCode code, const std::vector<std::string>& words) {
  const Expected<Capture> capture = openCapture(path);
  ASSERT_FALSE(capture.ok());
  EXPECT_EQ(capture.status().code(), code) << capture.message();
  for (const std::string& word : words) EXPECT_NE(capture.message().find(word), std::string::npos) << "'" << word << "' in: " << capture.message();
}

// The header again, with versions of our choice.
Bytes withVersion(Bytes bytes, uint16_t major, uint16_t minor) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.version_major = major;
  header.version_minor = minor;
  header.crc = base::crc32(&header, offsetof(FileHeader, crc));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

TEST(ForeignFile, ThatIsMissingOrAFolderIsNamed) {
  expectRefused("/no/such/file.xst", StatusCode::not_found, {"/no/such/file.xst", "No such file"});
  expectRefused(::testing::TempDir(), StatusCode::io_error, {"not a regular file", ".xst"});
}

TEST(ForeignFile, ThatIsEmptyOrTooShortSaysItsSize) {
  const TemporaryFile file("short.xst");
  writeBytes(file.path, {});
  expectRefused(file.path, StatusCode::corrupt, {file.path, "0 bytes"});
  writeBytes(file.path, Bytes(40, 'x'));
  expectRefused(file.path, StatusCode::corrupt, {file.path, "40 bytes"});
}

TEST(ForeignFile, OfNoiseIsNoCapture) {
  const TemporaryFile file("noise.xst");
  std::mt19937 random(1);
  for (const size_t size : {100u, 4096u, 100'000u}) {
    Bytes bytes(size);
    for (char& byte : bytes) byte = static_cast<char>(random());
    writeBytes(file.path, bytes);
    expectRefused(file.path, StatusCode::corrupt, {file.path, "no capture", "XSigma Profiler"});
  }
  writeBytes(file.path, Bytes(8192, 0));
  expectRefused(file.path, StatusCode::corrupt, {file.path, "no capture"});
}

TEST(ForeignFile, OfANewerMajorVersionSaysBothVersions) {
  const TemporaryFile file("newer.xst");
  const auto next = static_cast<uint16_t>(kVersionMajor + 1);
  writeBytes(file.path, withVersion(makeSmallCapture().closed, next, 3));
  expectRefused(file.path, StatusCode::too_new, {file.path, std::to_string(next) + ".3", std::to_string(kVersionMajor) + ".x", "newer"});
}

TEST(ForeignFile, OfANewerMinorVersionIsReadWithoutWhatIsNew) {
  Bytes bytes = makeSmallCapture().closed;
  const std::vector<PlainRecord> known = plainRecords(*openBytes(bytes));
  size_t made_unknown = 0;
  for (const PlainRecord& record : known) {
    constexpr char kOfTheFuture = 0x22;  // even parity, like every code
    if (record.kind != RecordKind::instant) continue;
    bytes[record.offset] = kOfTheFuture;
    ++made_unknown;
  }
  ASSERT_GT(made_unknown, 0u);
  const TemporaryFile file("minor.xst");
  writeBytes(file.path, withVersion(bytes, kVersionMajor, kVersionMinor + 7));
  const Expected<Capture> capture = openCapture(file.path);
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_TRUE(capture->damages().empty());
  EXPECT_EQ(capture->info().version_major, kVersionMajor);
  EXPECT_EQ(capture->info().version_minor, kVersionMinor + 7);
  EXPECT_EQ(plainRecords(*capture).size(), known.size() - made_unknown);
}

TEST(SavedCapture, IsTheSameCapture) {
  const TemporaryFile file("saved.xst");
  const Bytes bytes = makeSmallCapture().closed;
  const Expected<Capture> capture = openBytes(bytes);
  ASSERT_TRUE(capture.ok()) << capture.message();
  ASSERT_TRUE(capture->save(file.path).ok());
  EXPECT_EQ(readBytes(file.path), bytes);
  const Status refused = capture->save("/no/such/folder/saved.xst");
  EXPECT_EQ(refused.code(), StatusCode::io_error);
  EXPECT_NE(refused.message().find("/no/such/folder/saved.xst"), std::string::npos) << refused.message();
}

}  // namespace
}  // namespace xsigma::profiler::test
