// The stand-in itself: what is recorded is what a client gets.
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "standin.h"

namespace {

// A client that keeps all records, copied out of their buffers.
struct Client {
  static inline size_t buffer_bytes = 4096;
  static inline int refuse_from = 1 << 30;
  static inline int given = 0;
  static inline std::vector<std::vector<uint8_t>> records;

  static void requested(uint8_t** buffer, size_t* bytes, size_t* max_records) {
    *max_records = 0;
    *bytes = buffer_bytes;
    *buffer = given++ < refuse_from ? static_cast<uint8_t*>(std::aligned_alloc(8, buffer_bytes)) : nullptr;
  }
  static void completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    CUpti_Activity* record = nullptr;
    std::vector<uint8_t*> starts;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) starts.push_back(reinterpret_cast<uint8_t*>(record));
    starts.push_back(buffer + valid);
    for (size_t at = 0; at + 1 < starts.size(); ++at) records.emplace_back(starts[at], starts[at + 1]);
    std::free(buffer);
  }
};

template <typename Record>
std::vector<Record> recordsOf(CUpti_ActivityKind kind) {
  std::vector<Record> some;
  for (const std::vector<uint8_t>& bytes : Client::records) {
    uint32_t own = 0;
    std::memcpy(&own, bytes.data(), sizeof own);
    if (own != static_cast<uint32_t>(kind)) continue;
    Record record{};
    std::memcpy(&record, bytes.data(), std::min(sizeof record, bytes.size()));
    some.push_back(record);
  }
  return some;
}

class CuptiStandin : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    ASSERT_TRUE(xsigma::standin::load(XSIGMA_TEST_RECORDING, &why)) << why;
    ASSERT_EQ(cuptiActivityRegisterCallbacks(Client::requested, Client::completed), CUPTI_SUCCESS);
  }
  static void playKernels(const xsigma::standin::Play& play = {}) {
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    xsigma::standin::play(play);
    cuptiActivityFlushAll(0);
  }
};

TEST_F(CuptiStandin, GivesTheRecordsOfTheKindsThatAreEnabled) {
  playKernels();
  std::map<std::string, int> counts;
  for (const auto& kernel : recordsOf<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) ++counts[kernel.name];
  EXPECT_EQ(counts["_Z5alphaPfi"], 25);
  EXPECT_EQ(counts["fromTheDriver"], 3);
  EXPECT_EQ(Client::records.size(), 55u);
  EXPECT_EQ(xsigma::standin::seen().buffers_out, 0);
}

TEST_F(CuptiStandin, CountsWhatFindsNoBuffer) {
  Client::refuse_from = 1;
  playKernels();
  const size_t in_one_buffer = Client::buffer_bytes / 216;
  EXPECT_EQ(Client::records.size(), in_one_buffer);
  size_t dropped = 0;
  EXPECT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 55 - in_one_buffer);
  EXPECT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 0u) << "asking takes the count";
}

TEST_F(CuptiStandin, ShortensRecordsToThoseOfCuda12) {
  xsigma::standin::behave({.version = 18, .layouts_of_12_0 = true});
  playKernels();
  ASSERT_EQ(Client::records.size(), 55u);
  EXPECT_EQ(Client::records.front().size(), sizeof(CUpti_ActivityKernel9));
  uint32_t version = 0;
  cuptiGetVersion(&version);
  EXPECT_EQ(version, 18u);
}

TEST_F(CuptiStandin, StretchesTimesOntoTheRegisteredClock) {
  static uint64_t time = 1'000'000;
  cuptiActivityRegisterTimestampCallback([]() -> uint64_t { return time; });
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  time = 9'000'000;
  xsigma::standin::play({.times_of_now = true});
  cuptiActivityFlushAll(0);
  ASSERT_EQ(Client::records.size(), 55u);
  for (const auto& kernel : recordsOf<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) {
    EXPECT_GT(kernel.start, 1'000'000u);
    EXPECT_GE(kernel.end, kernel.start);
    EXPECT_LT(kernel.end, 9'000'000u);
    EXPECT_EQ(kernel.queued, 0u) << "what is not known stays so";
  }
}

TEST_F(CuptiStandin, KeepsBackWorkThatIsNotDone) {
  playKernels({.late_flushes = 2});
  EXPECT_EQ(Client::records.size(), 0u);
  cuptiActivityFlushAll(0);
  EXPECT_EQ(Client::records.size(), 55u);
}

TEST_F(CuptiStandin, GivesWorkThatIsNotDoneWithoutTimesWhenForced) {
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  xsigma::standin::play({.late_flushes = 5});
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  ASSERT_EQ(Client::records.size(), 55u);
  EXPECT_EQ(recordsOf<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)[7].end, 0u);
}

TEST_F(CuptiStandin, TellsTheSubscriberOfGraphNodes) {
  static std::vector<std::pair<uint64_t, uint64_t>> copies;
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUpti_CallbackFunc keep = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    const auto* graph = static_cast<const CUpti_GraphData*>(static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
    uint64_t node = 0, origin = 0;
    cuptiGetGraphNodeId(graph->node, &node);
    cuptiGetGraphNodeId(graph->originalNode, &origin);
    copies.emplace_back(node, origin);
  };
  ASSERT_EQ(cuptiSubscribe(&subscriber, keep, nullptr), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiSubscribe(&subscriber, keep, nullptr), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  playKernels();
  ASSERT_EQ(copies.size(), 4u);
  EXPECT_EQ(copies[2], (std::pair<uint64_t, uint64_t>{8589934594, 4294967298}));
}

}  // namespace
