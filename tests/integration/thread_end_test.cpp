// Scopes in the last moments of a thread: thread_local and pthread_key destructors.
#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

struct RecordsAtItsEnd {
  ~RecordsAtItsEnd() { XSIGMA_PROFILE_SCOPE("end.thread_local"); }
  int touched = 0;
};
thread_local RecordsAtItsEnd records_at_its_end;

pthread_key_t earlier_key;  // made before the profiler's own
pthread_key_t later_key;

void recordInKeyDestructor(void*) { XSIGMA_PROFILE_SCOPE("end.key"); }

// Comes back until the system gives up.
void recordAgainAndAgain(void* value) {
  XSIGMA_PROFILE_SCOPE("end.again");
  pthread_setspecific(later_key, value);
}

TEST(ThreadEnd, ScopesOfDestructorsAreRecorded) {
  constexpr size_t kThreads = 50;
  pthread_key_create(&earlier_key, recordInKeyDestructor);
  Recording recording = record();
  pthread_key_create(&later_key, recordInKeyDestructor);
  for (size_t i = 0; i < kThreads; ++i) {
    std::thread thread([i] {
      records_at_its_end.touched = 1;
      pthread_setspecific(earlier_key, &records_at_its_end);
      pthread_setspecific(later_key, &records_at_its_end);
      if (i % 2 == 0) {
        XSIGMA_PROFILE_SCOPE("end.body");
      }
    });
    thread.join();
  }
  const Capture capture = recording.stop();
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "end.thread_local"), kThreads);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "end.key"), 2 * kThreads);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "end.body"), kThreads / 2);
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_TRUE(ledger.whole());
  EXPECT_EQ(ledger.recorded, 3 * kThreads + kThreads / 2);
  pthread_key_delete(earlier_key);
  pthread_key_delete(later_key);
}

TEST(ThreadEnd, ADestructorThatComesBackIsRecordedOrCountedEachTime) {
  if (kThreadSanitized) GTEST_SKIP() << "the sanitizer's own state of a thread is gone in the last round of destructors";
  Recording recording = record();
  pthread_key_create(&later_key, recordAgainAndAgain);
  std::thread thread([] { pthread_setspecific(later_key, &later_key); });
  thread.join();
  const Capture capture = recording.stop();
  const Ledger ledger = capture.ledger();
  expectLedgerAddsUp(ledger);
  EXPECT_EQ(ledger.attempted, static_cast<uint64_t>(PTHREAD_DESTRUCTOR_ITERATIONS));
  EXPECT_GE(countRecords(capture, RecordKind::scope_end, "end.again"), 1u);
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "end.again"), ledger.recorded);
  pthread_key_delete(later_key);
}

TEST(ThreadEnd, AThreadMayEndWithAScopeOpen) {
  Recording recording = record();
  std::thread thread([] {
    static detail::ScopeSite site{"end.open", __FILE__, __LINE__, RecordScope::USER_SCOPE};
    const detail::ScopeToken token = detail::beginScope(site);
    EXPECT_NE(token.ticks, 0u);
  });
  thread.join();
  { XSIGMA_PROFILE_SCOPE("end.after"); }
  const Ledger ledger = recording.stop().ledger();
  EXPECT_EQ(ledger.recorded, 2u);
  EXPECT_EQ(ledger.unfinished, 1u);
}

}  // namespace
}  // namespace xsigma::profiler::test
