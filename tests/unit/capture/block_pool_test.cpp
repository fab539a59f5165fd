// Blocks under a byte cap.
#include "capture/block_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "capture/block_check.h"

namespace xsigma::profiler::capture {
namespace {

constexpr uint32_t kWords = 16;

struct Pool {
  Pool(CapturePolicy policy, size_t cap) : store(Store::create("", cap).value()), pool(store, policy, cap) {}

  BlockHeader* take(uint32_t level = 0) {
    std::atomic<BlockHeader*> place{nullptr};
    return pool.takeData(place, level, kWords, why) ? place.load() : nullptr;
  }
  static void fill(BlockHeader* block) { block->cursor.store(packCursor(cursorStep(blockWords(*block), 0))); }

  Store store;
  BlockPool pool;
  LossCause why = LossCause::damaged;
};

TEST(BlockPool, GivesChunksOfASixteenthOfTheCapBetweenFourAndSixtyFourKilobytes) {
  EXPECT_EQ(BlockPool::chunkBytesFor(CapturePolicy::ring, 16 << 10), 4096u);
  EXPECT_EQ(BlockPool::chunkBytesFor(CapturePolicy::ring, 512 << 10), 32'768u);
  EXPECT_EQ(BlockPool::chunkBytesFor(CapturePolicy::ring, 1 << 30), 65'536u);
  EXPECT_EQ(BlockPool::chunkBytesFor(CapturePolicy::unbounded, 0), 65'536u);
}

TEST(BlockPool, StaysUnderItsCapAndKeepsRoomForTables) {
  Pool pool(CapturePolicy::stop_when_full, 64 << 10);
  std::set<BlockHeader*> blocks;
  while (BlockHeader* const block = pool.take()) EXPECT_TRUE(blocks.insert(block).second);
  EXPECT_EQ(pool.why, LossCause::cap_reached);
  EXPECT_GT(blocks.size(), 10u);
  EXPECT_NE(pool.pool.takeTable(), nullptr);
  EXPECT_LE(pool.pool.usedBytes(), 64u << 10);
}

TEST(BlockPool, SealsEveryBlockWithItsPlace) {
  Pool pool(CapturePolicy::stop_when_full, 64 << 10);
  BlockHeader* const block = pool.take();
  ASSERT_NE(block, nullptr);
  const auto page = static_cast<uint64_t>(reinterpret_cast<char*>(block) - pool.store.base()) / kPageBytes;
  EXPECT_EQ(block->crc, blockCrc(*block, block->generation, page));
  EXPECT_NE(block->crc, blockCrc(*block, block->generation, page + 1));
  EXPECT_EQ(roomInBlock(*block), kPageBytes / 4 - kBlockHeaderWords);
}

TEST(BlockPool, HandsAHalfFullBlockToTheNextThread) {
  Pool pool(CapturePolicy::stop_when_full, 64 << 10);
  BlockHeader* const block = pool.take();
  ASSERT_NE(block, nullptr);
  pool.pool.giveBack(block);
  EXPECT_EQ(pool.take(), block);
  Pool::fill(block);
  pool.pool.giveBack(block);
  EXPECT_NE(pool.take(), block);
}

TEST(BlockPool, ARingOverwritesItsOldestFullBlockUnderANewGeneration) {
  Pool pool(CapturePolicy::ring, 64 << 10);
  std::vector<BlockHeader*> blocks;
  while (BlockHeader* const block = pool.take()) blocks.push_back(block);
  EXPECT_EQ(pool.why, LossCause::no_chunk);
  ASSERT_GT(blocks.size(), 4u);
  const uint32_t generation = blocks[3]->generation;
  for (const size_t i : {3, 1, 2}) {
    Pool::fill(blocks[i]);
    pool.pool.giveBack(blocks[i]);
  }
  EXPECT_EQ(pool.take(), blocks[3]);
  EXPECT_GT(blocks[3]->generation, generation);
  EXPECT_EQ(pool.take(), blocks[1]);
}

TEST(BlockPool, GivesNothingOnceStopped) {
  Pool pool(CapturePolicy::ring, 64 << 10);
  BlockHeader* const block = pool.take();
  ASSERT_NE(block, nullptr);
  bool frozen = false;
  pool.pool.stop([&] { frozen = true; });
  EXPECT_TRUE(frozen);
  pool.pool.giveBack(block);
  const size_t used = pool.pool.usedBytes();
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.why, LossCause::late);
  EXPECT_EQ(pool.pool.takeTable(), nullptr) << "a closed capture does not grow any more";
  EXPECT_EQ(pool.pool.usedBytes(), used);
}

}  // namespace
}  // namespace xsigma::profiler::capture
