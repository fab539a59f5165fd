// A capture cut short, at every byte: what is left of it is a prefix of each thread's records.
#include <gtest/gtest.h>

#include <map>

#include "capture/format.h"
#include "damaged_capture.h"

namespace xsigma::profiler::test {
namespace {

using ByThread = std::map<uint32_t, std::vector<PlainRecord>>;

ByThread byThread(const Capture& capture) {
  ByThread records;
  for (PlainRecord& record : plainRecords(capture)) records[record.thread].push_back(std::move(record));
  return records;
}

void expectPrefixAtEveryByte(const Bytes& whole) {
  const Expected<Capture> sound = openBytes(whole);
  ASSERT_TRUE(sound.ok()) << sound.message();
  ASSERT_TRUE(sound->damages().empty());
  const ByThread full = byThread(*sound);
  ASSERT_EQ(full.size(), 2u);
  size_t opened = 0;
  size_t most = 0;
  for (size_t size = 0; size < whole.size(); size += kByteStep) {
    const Expected<Capture> cut = openBytes(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    if (!cut) {
      ASSERT_LT(size, sizeof(capture::FileHeader)) << cut.message();
      ASSERT_NE(cut.message().find(std::to_string(size) + " bytes"), std::string::npos) << cut.message();
      continue;
    }
    ++opened;
    readEverything(*cut);
    size_t count = 0;
    for (const auto& [thread, records] : byThread(*cut)) {
      ASSERT_TRUE(full.contains(thread)) << "cut at " << size;
      const std::vector<PlainRecord>& expected = full.at(thread);
      ASSERT_LE(records.size(), expected.size()) << "cut at " << size;
      for (size_t i = 0; i < records.size(); ++i) {
        ASSERT_EQ(records[i].offset, expected[i].offset) << "cut at " << size << ", thread " << thread << ", record " << i;
        ASSERT_EQ(records[i].fields, expected[i].fields) << "cut at " << size << ", thread " << thread << ", record " << i;
        ASSERT_EQ(records[i].names, expected[i].names) << "cut at " << size << ", thread " << thread << ", record " << i;
      }
      count += records.size();
    }
    most = std::max(most, count);
    if (sound->info().closed && cut->info().closed) {
      ASSERT_FALSE(cut->damages().empty()) << "cut at " << size << " and nothing says so";
    }
  }
  EXPECT_EQ(opened, (whole.size() - 1) / kByteStep - (sizeof(capture::FileHeader) - 1) / kByteStep);
  EXPECT_GT(most, 50u);
}

TEST(TruncatedCapture, OfAClosedRecordingIsAPrefix) { expectPrefixAtEveryByte(makeSmallCapture().closed); }

TEST(TruncatedCapture, OfAKilledRecordingIsAPrefix) { expectPrefixAtEveryByte(makeSmallCapture().live); }

TEST(TruncatedCapture, OpensFromAFileAsWell) {
  const Bytes whole = makeSmallCapture().closed;
  const TemporaryFile file("cut.xst");
  writeBytes(file.path, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(whole.size() * 2 / 3)));
  const Expected<Capture> cut = openCapture(file.path);
  ASSERT_TRUE(cut.ok()) << cut.message();
  EXPECT_FALSE(cut->damages().empty());
  const Ledger ledger = cut->ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_GT(ledger.recorded, 0u);
  EXPECT_GT(lost(ledger, LossCause::damaged), 0u);
}

TEST(SmallCapture, HasEveryKindAndDrops) {
  const Expected<Capture> capture = openBytes(makeSmallCapture().closed);
  ASSERT_TRUE(capture.ok()) << capture.message();
  for (const RecordKind kind :
       {RecordKind::scope_begin, RecordKind::scope_end, RecordKind::instant, RecordKind::counter, RecordKind::memory, RecordKind::out_of_memory,
        RecordKind::given_event, RecordKind::external_id_push, RecordKind::external_id_pop, RecordKind::metadata}) {
    EXPECT_GT(countRecords(*capture, kind), 0u) << toString(kind);
  }
  EXPECT_EQ(capture->threads().size(), 2u);
  EXPECT_GT(lost(capture->ledger(), LossCause::cap_reached), 0u);
  EXPECT_GT(capture->ledger().extras_dropped, 0u);
}

}  // namespace
}  // namespace xsigma::profiler::test
