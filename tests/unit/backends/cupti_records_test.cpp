// A record is read by the version of the library that wrote it: nothing past its end is looked at, and nothing of it is missed.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cupti/layouts.h"
#include "backends/cupti/records.h"

namespace xsigma::profiler::backends::cupti {
namespace {

// Memory that says something else wherever nobody wrote.
template <typename Layout>
struct Written {
  Written() { std::memset(bytes, 0xAB, sizeof bytes); }
  Layout& record() { return *reinterpret_cast<Layout*>(bytes); }
  const CUpti_Activity& activity() const { return *reinterpret_cast<const CUpti_Activity*>(bytes); }

  alignas(8) unsigned char bytes[sizeof(Layout) + 64];
};

template <typename Layout>
Written<Layout> kernel() {
  Written<Layout> written;
  Layout& record = written.record();
  record = Layout{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.registersPerThread = 74;
  record.start = 1000;
  record.end = 3000;
  record.deviceId = 1;
  record.contextId = 2;
  record.streamId = 7;
  record.gridX = 8;
  record.gridY = 4;
  record.gridZ = 5;
  record.blockX = 128;
  record.blockY = 1;
  record.blockZ = 2;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 20480;
  record.correlationId = 753731;
  record.name = "_Z1kv";
  record.graphNodeId = 0x500000001;
  record.graphId = 5;
  record.channelID = 3;
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  return written;
}

void expectTheKernel(const KernelRecord& read) {
  EXPECT_EQ(read.work.start, 1000u);
  EXPECT_EQ(read.work.end, 3000u);
  EXPECT_EQ(read.work.device, 1u);
  EXPECT_EQ(read.work.context, 2u);
  EXPECT_EQ(read.work.stream, 7u);
  EXPECT_EQ(read.work.correlation, 753731u);
  EXPECT_EQ(read.work.graph, 5u);
  EXPECT_EQ(read.work.graph_node, 0x500000001u);
  EXPECT_EQ(read.work.channel, 3u);
  EXPECT_EQ(read.work.channel_type, 1u);
  EXPECT_STREQ(read.name, "_Z1kv");
  EXPECT_EQ(read.registers, 74u);
  EXPECT_EQ(read.shared_static + read.shared_dynamic, 21504);
  EXPECT_EQ(read.grid[0] * 100 + read.grid[1] * 10 + read.grid[2], 845);
  EXPECT_EQ(read.block[0] * 100 + read.block[1] * 10 + read.block[2], 12812);
}

TEST(CuptiRecords, AKernelOf12_0HasNoPriority) {
  for (const uint32_t version : {uint32_t{kCupti12_0}, uint32_t{20}, uint32_t{28}}) {
    const KernelRecord read = readKernel(version, kernel<CUpti_ActivityKernel9>().activity());
    expectTheKernel(read);
    EXPECT_FALSE(read.has_priority) << version;
  }
}

#if CUPTI_API_VERSION >= 130100
TEST(CuptiRecords, AKernelOf13_1HasAPriority) {
  auto written = kernel<CUpti_ActivityKernel11>();
  written.record().priority = -5;
  const KernelRecord read = readKernel(130101, written.activity());
  expectTheKernel(read);
  EXPECT_TRUE(read.has_priority);
  EXPECT_EQ(read.priority, -5);
  EXPECT_FALSE(readKernel(130001, written.activity()).has_priority) << "that version had no such field, whatever lies there";
}

TEST(CuptiRecords, OfALaterVersionThanTheHeadersTheKnownPartIsRead) {
  auto written = kernel<Newest<KernelLayouts>::Layout>();
  written.record().priority = -5;
  const KernelRecord read = readKernel(990000, written.activity());
  expectTheKernel(read);
  EXPECT_EQ(read.priority, -5);
}
#endif

TEST(CuptiRecords, AWaitOf12_0HasNoNumberOfItsEvent) {
  Written<CUpti_ActivitySynchronization> written;
  written.record() = {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 10, 20, 5, 1, 14, 3};
  const SyncRecord read = readSync(kCupti12_0, written.activity());
  EXPECT_EQ(read.type, 2u);
  EXPECT_EQ(read.correlation, 5u);
  EXPECT_EQ(read.stream, 14u);
  EXPECT_EQ(read.event, 3u);
  EXPECT_EQ(read.event_sync, 0u);
}

#if CUPTI_API_VERSION >= 26
TEST(CuptiRecords, AWaitAndItsEventHaveTheSameNumberFrom12_8On) {
  Written<CUpti_ActivitySynchronization2> wait;
  wait.record() = {
      CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 10, 20, 5, 1, 14, 3, 77, 0, 0};
  EXPECT_EQ(readSync(kCupti12_8, wait.activity()).event_sync, 77u);
  EXPECT_EQ(readSync(kCupti12_6, wait.activity()).event_sync, 0u) << "that version had no such field, whatever lies there";

  Written<CUpti_ActivityCudaEvent2> event;
  event.record() = {};
  event.record().deviceId = 1;
  event.record().deviceTimestamp = 4000;
  event.record().cudaEventSyncId = 77;
  const EventRecord read = readEvent(kCupti13_0, event.activity());
  EXPECT_EQ(read.event_sync, 77u);
  EXPECT_EQ(read.time, 4000u);
  EXPECT_TRUE(read.has_device);
  EXPECT_EQ(read.device, 1u);
}
#endif

TEST(CuptiRecords, AnEventOf12_0HasNoTimeAndNoDevice) {
  Written<CUpti_ActivityCudaEvent> written;
  written.record() = {CUPTI_ACTIVITY_KIND_CUDA_EVENT, 5, 1, 14, 3, 0};
  const EventRecord read = readEvent(kCupti12_0, written.activity());
  EXPECT_EQ(read.event, 3u);
  EXPECT_EQ(read.time, 0u);
  EXPECT_FALSE(read.has_device);
}

TEST(CuptiRecords, ACopyBetweenDevicesNamesBoth) {
  Written<CUpti_ActivityMemcpyPtoP4> written;
  CUpti_ActivityMemcpyPtoP4& record = written.record();
  record = {};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.bytes = 4096;
  record.deviceId = 1;
  record.srcDeviceId = 2;
  record.dstDeviceId = 3;
  record.correlationId = 9;
  const CopyRecord read = readPeerCopy(kCupti13_0, written.activity());
  EXPECT_TRUE(read.peer);
  EXPECT_EQ(read.work.device, 1u);
  EXPECT_EQ(read.source_device, 2u);
  EXPECT_EQ(read.target_device, 3u);
  EXPECT_EQ(read.bytes, 4096u);
  EXPECT_EQ(read.work.correlation, 9u);
}

TEST(CuptiRecords, AReleaseIntoAPoolSaysHowLargeThePoolIs) {
  Written<CUpti_ActivityMemory3> written;
  CUpti_ActivityMemory3& record = written.record();
  record = {};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = 0x302000000;
  record.bytes = 65536;
  record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.memoryPoolConfig.address = 0x302000000;
  record.memoryPoolConfig.pool.size = 33554432;
  const MemoryRecord read = readMemory(kCupti12_0, written.activity());
  EXPECT_TRUE(read.release);
  EXPECT_EQ(read.bytes, 65536u);
  EXPECT_EQ(read.pool, 0x302000000u);
  EXPECT_EQ(read.pool_size, 33554432u);
}

}  // namespace
}  // namespace xsigma::profiler::backends::cupti
