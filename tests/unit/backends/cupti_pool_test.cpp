// Buffers and graph nodes on their way from the program's threads to the worker.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/graph_nodes.h"

namespace xsigma::profiler::backends::cupti {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(CuptiPool, GivesNoMoreThanItMay) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(64 * kMiB));
  EXPECT_EQ(pool.bufferBytes(), kMiB);
  std::set<uint8_t*> given;
  while (uint8_t* const buffer = pool.take()) given.insert(buffer);
  EXPECT_EQ(given.size(), 64u);
  EXPECT_EQ(pool.outstanding(), 64u);
  EXPECT_EQ(pool.refused(), 1u);
}

TEST(CuptiPool, ALittleMemoryIsStillSeveralBuffers) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(kMiB));
  EXPECT_EQ(pool.bufferBytes(), kMiB / 16);
  ASSERT_TRUE(pool.prepare(1));
  EXPECT_NE(pool.take(), nullptr);
}

TEST(CuptiPool, FullBuffersComeInTheOrderOfTheirCompletionAndEmptyAgain) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(2 * BufferPool::kSmallestBuffer));
  uint8_t* const first = pool.take();
  uint8_t* const second = pool.take();
  ASSERT_EQ(pool.take(), nullptr);
  std::fill_n(second, pool.bufferBytes(), uint8_t{0xCD});
  EXPECT_TRUE(pool.complete(second, 500));
  EXPECT_TRUE(pool.complete(first, 0));
  std::vector<BufferPool::Completed> completed;
  pool.takeCompleted(completed);
  ASSERT_EQ(completed.size(), 2u);
  EXPECT_EQ(completed[0].memory, second);
  EXPECT_EQ(completed[0].valid, 500u);
  EXPECT_EQ(completed[1].memory, first);
  EXPECT_EQ(pool.outstanding(), 2u);
  pool.giveBack(completed[0]);
  EXPECT_EQ(pool.outstanding(), 1u);
  uint8_t* const again = pool.take();
  EXPECT_EQ(again, second);
  EXPECT_EQ(std::count(again, again + pool.bufferBytes(), 0), static_cast<std::ptrdiff_t>(pool.bufferBytes()));
}

TEST(CuptiPool, WhatIsNotItsOwnIsRefused) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(kMiB));
  uint8_t* const mine = pool.take();
  uint8_t other = 0;
  EXPECT_FALSE(pool.complete(&other, 1));
  EXPECT_FALSE(pool.complete(nullptr, 1));
  EXPECT_FALSE(pool.complete(mine + 8, 1));
  EXPECT_TRUE(pool.complete(mine, 1));
}

TEST(CuptiPool, ABufferThatStaysOutIsNotGivenAgainBeforeItIsReclaimed) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(2 * BufferPool::kSmallestBuffer));
  uint8_t* const lost = pool.take();
  lost[0] = 1;
  ASSERT_TRUE(pool.prepare(2 * BufferPool::kSmallestBuffer));
  EXPECT_NE(pool.take(), lost);
  EXPECT_EQ(pool.take(), nullptr);
  pool.reclaim();
  ASSERT_TRUE(pool.prepare(2 * BufferPool::kSmallestBuffer));
  EXPECT_EQ(pool.outstanding(), 0u);
  EXPECT_EQ(pool.take(), lost);
  EXPECT_EQ(lost[0], 0);
}

TEST(CuptiPool, BetweenRunsItGivesNothing) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(kMiB));
  pool.release();
  EXPECT_EQ(pool.take(), nullptr);
  ASSERT_TRUE(pool.prepare(kMiB));
  EXPECT_NE(pool.take(), nullptr);
}

TEST(CuptiPool, ManyThreadsNeverShareABuffer) {
  BufferPool pool;
  ASSERT_TRUE(pool.prepare(16 * BufferPool::kSmallestBuffer));
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  std::atomic<bool> shared{false};
  std::atomic<int> running{kThreads};
  std::atomic<uint64_t> completed_by_threads{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        uint8_t* const buffer = pool.take();
        if (buffer == nullptr) {
          std::this_thread::yield();
          continue;
        }
        if (buffer[0] != 0) shared = true;
        buffer[0] = static_cast<uint8_t>(thread + 1);
        buffer[1] = static_cast<uint8_t>(round);
        if (buffer[0] != thread + 1) shared = true;
        pool.complete(buffer, 2);
        ++completed_by_threads;
      }
      --running;
    });
  }
  uint64_t read = 0;
  std::vector<BufferPool::Completed> completed;
  for (bool last = false;; last = running == 0) {
    completed.clear();
    pool.takeCompleted(completed);
    for (const BufferPool::Completed& buffer : completed) {
      ++read;
      if (buffer.memory[0] == 0) shared = true;
      pool.giveBack(buffer);
    }
    if (last && completed.empty()) break;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared);
  EXPECT_EQ(read, completed_by_threads);
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(CuptiGraphNodes, ComeInOrderAndWhatFindsNoRoomIsCounted) {
  const auto nodes = std::make_unique<GraphNodes>();
  for (uint64_t number = 1; number <= GraphNodes::kCapacity + 3; ++number)
    nodes->push({.ticks = number, .node = number, .origin = 0, .thread = 1});
  EXPECT_EQ(nodes->takeLost(), 3u);
  EXPECT_EQ(nodes->takeLost(), 0u);
  GraphNode node;
  for (uint64_t number = 1; number <= GraphNodes::kCapacity; ++number) {
    ASSERT_TRUE(nodes->pop(node));
    ASSERT_EQ(node.node, number);
  }
  EXPECT_FALSE(nodes->pop(node));
}

TEST(CuptiGraphNodes, OfManyThreadsNoneIsLost) {
  const auto nodes = std::make_unique<GraphNodes>();
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kEach = 20000;
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t number = 1; number <= kEach; ++number) {
        while (!nodes->push({.ticks = 0, .node = number, .origin = 0, .thread = thread})) std::this_thread::yield();
      }
    });
  }
  std::vector<uint64_t> last(kThreads, 0);
  uint64_t read = 0;
  bool in_order = true;
  while (read < kThreads * kEach) {
    GraphNode node;
    if (!nodes->pop(node)) {
      std::this_thread::yield();
      continue;
    }
    ++read;
    if (node.node != last[node.thread] + 1) in_order = false;
    last[node.thread] = node.node;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(in_order);
}

}  // namespace
}  // namespace xsigma::profiler::backends::cupti
