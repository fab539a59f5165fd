// A capture with one byte, or one bit, changed: found out where it matters, and harmless to every other record.
#include <gtest/gtest.h>

#include <random>

#include "base/checksum.h"
#include "capture/block_walk.h"
#include "capture/format.h"
#include "capture/segment_index.h"
#include "damaged_capture.h"

namespace xsigma::profiler::test {
namespace {

using namespace capture;

enum class Role : uint8_t {
  unused,   // changes nothing
  framing,  // header, tables, framing: must be found out
  payload,  // of one record: nothing else changes
  spare,    // the start of a page that no block has begun yet: no record changes, and it may be found out
};

// What every byte of a sound capture is for.
std::vector<Role> rolesOf(const Bytes& bytes) {
  std::vector<Role> roles(bytes.size(), Role::unused);
  const auto set = [&](size_t from, size_t count, Role role) { std::fill_n(roles.begin() + static_cast<ptrdiff_t>(from), count, role); };
  set(0, sizeof(HeaderPage), Role::framing);
  Damages damages;
  walkBlocks(*bytesImage(bytes), damages, [&](const BlockCopy& block) {
    set(block.offset, sizeof(BlockHeader), Role::framing);
    const size_t written = cursorWords(block.cursor) * 4 - sizeof(BlockHeader);
    if (block.type == BlockType::table) return set(block.offset + sizeof(BlockHeader), written, Role::framing);
    for (uint32_t at = kBlockHeaderWords; at < block.end_words;) {
      const uint32_t head = block.words[at];
      const uint32_t words = recordWords(&block.words[at], block.end_words - at);
      const Code code = headCode(head);
      const bool sized = code != Code::begin && code != Code::end && code != Code::end_long;
      set(block.offset + at * 4, words * 4, code == Code::segment ? Role::framing : Role::payload);
      set(block.offset + at * 4, sized ? 4 : 1, Role::framing);
      at += words;
    }
  });
  EXPECT_TRUE(damages.empty());
  for (size_t page = 0; page < bytes.size(); page += kPageBytes) {
    if (roles[page] == Role::unused) set(page, sizeof(BlockHeader), Role::spare);
  }
  return roles;
}

class Flips {
 public:
  explicit Flips(Bytes bytes) : bytes_(std::move(bytes)), roles_(rolesOf(bytes_)), records_(plainRecords(*openBytes(bytes_))) {}

  void expectContained(size_t at, unsigned char mask) const {
    SCOPED_TRACE(::testing::Message() << "byte " << at << " ^ " << int{mask});
    Bytes flipped = bytes_;
    flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ mask);
    const Expected<Capture> capture = openBytes(std::move(flipped));
    if (roles_[at] == Role::framing) {
      EXPECT_TRUE(!capture.ok() || !capture->damages().empty()) << "nobody noticed";
      if (capture.ok()) readEverything(*capture);
      return;
    }
    ASSERT_TRUE(capture.ok()) << capture.message();
    EXPECT_TRUE(roles_[at] == Role::spare || capture->damages().empty()) << capture->damages().front().what;
    readEverything(*capture);
    size_t index = 0;
    size_t changed = 0;
    capture->forEachRecord([&](const CaptureRecord& record) {
      ASSERT_LT(index, records_.size());
      const PlainRecord& sound = records_[index++];
      if (toPlain(record) == sound) return;
      ++changed;
      const uint64_t end = index < records_.size() && records_[index].offset > sound.offset ? records_[index].offset : UINT64_MAX;
      EXPECT_GE(at, sound.offset);
      EXPECT_LT(at, end);
    });
    EXPECT_EQ(index, records_.size());
    EXPECT_LE(changed, roles_[at] == Role::payload ? 1u : 0u);
  }

  const Bytes& bytes() const { return bytes_; }
  Role role(size_t at) const { return roles_[at]; }

 private:
  Bytes bytes_;
  std::vector<Role> roles_;
  std::vector<PlainRecord> records_;
};

TEST(FlippedCapture, EveryByteOnce) {
  const Flips flips(makeSmallCapture().closed);
  size_t of_role[4] = {};
  for (size_t at = 0; at < flips.bytes().size(); at += kByteStep) {
    flips.expectContained(at, 0xFF);
    ++of_role[static_cast<size_t>(flips.role(at))];
    if (HasFailure()) return;
  }
  for (const Role role : {Role::unused, Role::framing, Role::payload}) EXPECT_GT(of_role[static_cast<size_t>(role)], 100u / kByteStep);
}

TEST(FlippedCapture, EveryByteOfAKilledOneOnce) {
  const Flips flips(makeSmallCapture().live);
  for (size_t at = 0; at < flips.bytes().size(); at += kByteStep) {
    flips.expectContained(at, 0xFF);
    if (HasFailure()) return;
  }
}

TEST(FlippedCapture, EverySingleBitOfHeadersTablesAndFirstRecords) {
  const Flips flips(makeSmallCapture().closed);
  constexpr size_t kOfEachPage = 160;
  for (size_t at = 0; at < flips.bytes().size(); at += kByteStep) {
    if (at % kPageBytes >= kOfEachPage) continue;
    for (int bit = 0; bit < 8; ++bit) flips.expectContained(at, static_cast<unsigned char>(1 << bit));
    if (HasFailure()) return;
  }
}

// No promise but to stay upright, and a ledger that adds up.
TEST(FlippedCapture, ManyBytesAtOnce) {
  const Bytes sound = makeSmallCapture().closed;
  std::mt19937 random(20240607);
  size_t opened = 0;
  for (int round = 0; round < (kSanitized ? 1000 : 5000); ++round) {
    Bytes bytes = sound;
    const size_t first = random() % 4 == 0 ? 0 : sizeof(FileHeader);
    for (uint32_t n = 1 + random() % 64; n > 0; --n) bytes[first + random() % (bytes.size() - first)] = static_cast<char>(random());
    const Expected<Capture> capture = openBytes(std::move(bytes));
    if (!capture) continue;
    ++opened;
    readEverything(*capture);
    if (HasFailure()) return;
  }
  EXPECT_GT(opened, 500u);
}

TEST(FlippedCapture, NothingButARightHeaderAndNoise) {
  const Bytes sound = makeSmallCapture().closed;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Bytes bytes = sound;
    for (size_t at = sizeof(FileHeader); at < bytes.size(); ++at) bytes[at] = static_cast<char>(random());
    const Expected<Capture> capture = openBytes(std::move(bytes));
    ASSERT_TRUE(capture.ok()) << capture.message();
    EXPECT_FALSE(capture->damages().empty());
    readEverything(*capture);
    EXPECT_EQ(plainRecords(*capture).size(), 0u);
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
