// What the tests of recordings look at: records as plain values, scopes by thread, a ledger that adds up.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "xsigma/profiler/capture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define XSIGMA_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define XSIGMA_TEST_SANITIZED 1
#endif
#endif
#ifndef XSIGMA_TEST_SANITIZED
#define XSIGMA_TEST_SANITIZED 0
#endif

namespace xsigma::profiler::test {

inline constexpr bool kSanitized = XSIGMA_TEST_SANITIZED != 0;
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

// Starts, or throws the message, which fails the test.
inline Recording record(CaptureOptions options = {}) { return std::move(startRecording(std::move(options)).value()); }

// A path of this process alone.
inline std::string temporaryPath(const std::string& name) { return ::testing::TempDir() + "xsigma_" + std::to_string(getpid()) + "_" + name; }

struct TemporaryFile {
  explicit TemporaryFile(const std::string& name) : path(temporaryPath(name)) { unlink(path.c_str()); }
  ~TemporaryFile() { unlink(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path;
};

inline uint64_t lost(const ScopeCounts& counts, LossCause cause) { return counts.causes[static_cast<size_t>(cause)]; }

inline void expectCountsAddUp(const ScopeCounts& counts) {
  uint64_t causes = 0;
  for (const uint64_t count : counts.causes) causes += count;
  EXPECT_EQ(counts.dropped, causes);
  EXPECT_EQ(counts.attempted, counts.recorded + counts.dropped);
  EXPECT_LE(counts.unfinished, counts.recorded);
}

inline void expectLedgerAddsUp(const Ledger& ledger) {
  expectCountsAddUp(ledger);
  for (const ThreadLedger& thread : ledger.threads) expectCountsAddUp(thread);
}

// How many records of the kind; of the name, if one is given.
inline size_t countRecords(const Capture& capture, RecordKind kind, std::string_view name = {}) {
  size_t count = 0;
  capture.forEachRecord([&](const CaptureRecord& record) { count += record.kind == kind && (name.empty() || record.name == name); });
  return count;
}

// The values of the counters of one name, by thread, in order.
inline std::map<uint32_t, std::vector<double>> counterValues(const Capture& capture, std::string_view name) {
  std::map<uint32_t, std::vector<double>> values;
  capture.forEachRecord([&](const CaptureRecord& record) {
    if (record.kind == RecordKind::counter && record.name == name) values[record.thread].push_back(record.value);
  });
  return values;
}

// 0, 1, 2, … without a gap.
inline bool countsUpFromZero(const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<double>(i)) return false;
  }
  return true;
}

}  // namespace xsigma::profiler::test
