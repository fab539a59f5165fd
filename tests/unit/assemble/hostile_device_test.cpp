// Device records that are damaged, or were made to break readers: every reader stays upright, and what they write is sound.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "assembled.h"
#include "hand_device.h"
#include "kineto/result_table.h"
#include "parsed_json.h"
#include "xsigma/profiler/key_averages.h"
#include "xsigma/profiler/memory_profile.h"

namespace xsigma::profiler::test {
namespace {

using libkineto::ActivityType;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Thousands of small files, each synced: in memory, where there is such a folder.
class HostileDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/dev/shm", W_OK) == 0) setenv("TEST_TMPDIR", "/dev/shm/", 0);
  }
};

size_t sizeOf(const std::vector<std::shared_ptr<Result>>& nodes) {
  size_t size = nodes.size();
  for (const std::shared_ptr<Result>& each : nodes) size += sizeOf(each->children_);
  return size;
}

// Asks everything of every event, and gives the number of them back.
size_t readEvents(const Capture& capture) {
  auto table = std::make_shared<KinetoEvent::Table>();
  table->config.with_modules = true;
  table->config.experimental_config.expose_kineto_event_metadata = true;
  table->events = assemble::tabulate(assembleTrace(capture));
  const size_t count = table->events->entries.size();
  for (size_t i = 0; i < count; ++i) {
    const KinetoEvent event(table, i);
    EXPECT_GE(event.durationNs(), 0);
    EXPECT_LE(event.stack().size(), count);
    EXPECT_LE(event.moduleHierarchy().size(), count);
    parsed::json("{" + event.metadataJson() + "}");
    event.deviceIndex();
    event.deviceResourceId();
  }
  EXPECT_EQ(sizeOf(buildTree(*table)), count) << "every event is in the tree, once";
  return count;
}

// By all that reads captures. What they write is parsed, which throws where it is not JSON.
void readByAll(const Capture& capture) {
  const Ledger ledger = capture.ledger();
  EXPECT_EQ(ledger.device.launched, ledger.device.kernels + ledger.device.pending + ledger.device.dropped);
  const parsed::Json trace = parsed::json(exportText(capture));
  EXPECT_TRUE(trace["xsigmaAssembly"]["complete"].boolean);
  const size_t events = readEvents(capture);
  EXPECT_EQ(trace["xsigmaAssembly"]["events"].number, static_cast<double>(events));
  const KeyAverages averages = keyAverages(capture);
  EXPECT_FALSE(averages.table().empty());
  const std::string path = exportPath("hostile.txt");
  exportStacks(capture, path, "self_cuda_time_total");
  unlink(path.c_str());
  EXPECT_TRUE(analyzeMemory(capture).empty() || trace["xsigmaAssembly"]["memory_events"].number != 0);
}

// Something of every role, linked and crossing, with arguments.
std::vector<char> smallCapture() {
  HandCapture capture({}, {.policy = CapturePolicy::stop_when_full, .byte_cap = 128 * 1024});
  HandThread& main = capture.thread(11, "main");
  HandDevice device(capture);
  capture.sink().addDeviceRow(0, -1, "GPU 0", 1);
  capture.sink().addDeviceRow(0, 7, "stream 7", 7);
  main.begin("outer", 100, {}, RecordScope::USER_SCOPE);
  main.begin("inner", 200, {}, RecordScope::USER_SCOPE);
  device.call("launch", 1, 11, 210, 220);
  device.kernel("k1", 1, 7, 250, 450, "\"grid\": [\1, \1], \"share\": \2, \"why\": \3, \"rate\": \4", {1, -2, 3, capture.site("text"), 5});
  device.call("launch", 2, 11, 230, 240);
  device.kernel("k2", 2, 7, 300, 500);
  DeviceActivity node;
  node.role = DeviceRole::graph_node;
  node.thread_id = 11;
  node.node = 5;
  device.put(node, "node", 245, 245);
  DeviceActivity of_graph;
  of_graph.correlation = 1;
  of_graph.node = 5;
  device.put(of_graph, "k3", 600, 700);
  main.end("inner", 200, 400, RecordScope::USER_SCOPE);
  DeviceActivity wait;
  wait.role = DeviceRole::note;
  wait.type = ActivityType::CUDA_SYNC;
  wait.thread_id = 7;
  wait.correlation = 2;
  device.put(wait, "wait", 300, 500);
  DeviceActivity overhead;
  overhead.role = DeviceRole::overhead;
  overhead.type = ActivityType::OVERHEAD;
  device.put(overhead, "flush", 300, 310);
  DeviceActivity memory;
  const int64_t bytes[] = {0x1000, 64, 64, 128};
  memory.role = DeviceRole::memory;
  memory.values = bytes;
  memory.value_count = kMemoryValues;
  memory.correlation = 2;
  device.put(memory, "memory", 235, 235);
  DeviceActivity counter;
  const int64_t value = std::bit_cast<int64_t>(0.5);
  counter.role = DeviceRole::counter;
  counter.values = &value;
  counter.value_count = 1;
  device.put(counter, "counter", 300, 300);
  putDeviceClock(device.thread().writer(), capture.ticks(100), 1, 1'000'000, capture.ticks(0));
  putDeviceClock(device.thread().writer(), capture.ticks(100), 1, 9'000'000, capture.ticks(8'000'000));
  DeviceActivity elsewhere;
  elsewhere.clock = 1;
  elsewhere.start = 2'000'000;
  elsewhere.end = 3'000'000;
  elsewhere.name = capture.site("on another clock");
  device.putAsItIs(elsewhere, 400);
  DeviceActivity pending;
  pending.role = DeviceRole::pending;
  pending.correlation = 9;
  device.put(pending, "pending", 0, 0);
  main.end("outer", 100, 800, RecordScope::USER_SCOPE);
  return capture.bytes(10'000'000);
}

// Where the device records lie.
std::vector<std::pair<size_t, size_t>> deviceBytes(const Capture& capture) {
  std::vector<std::pair<size_t, size_t>> places;
  const Capture::Source::Contents& contents = capture.source()->contents();
  for (const capture::Segment& segment : contents.segments) {
    if (!capture::isDeviceThread(contents.threads.at(segment.thread))) continue;
    places.emplace_back(segment.block_offset + segment.first_word * 4, segment.block_offset + segment.end_word * 4);
  }
  return places;
}

TEST_F(HostileDevice, ASoundCaptureIsReadByAll) {
  const Capture capture = HandCapture::open(smallCapture());
  readByAll(capture);
  EXPECT_TRUE(capture.damages().empty());
  const Assembled trace(capture);
  for (const char* const name : {"k1", "k2", "k3", "wait", "flush", "[memory]", "counter", "on another clock"})
    EXPECT_EQ(trace.all(name).size(), 1u) << name;
  EXPECT_EQ(trace.totals().before_launch, 0u);
}

TEST_F(HostileDevice, EveryByteOfTheRecordsChanged) {
  const std::vector<char> sound = smallCapture();
  size_t changed = 0;
  for (const auto& [from, end] : deviceBytes(HandCapture::open(sound))) {
    for (size_t at = from; at < end; at += kSanitized ? 3 : 1) {
      for (const int mask : {0xFF, 1 << at % 8}) {
        SCOPED_TRACE(testing::Message() << "byte " << at << " ^ " << mask);
        std::vector<char> bytes = sound;
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ mask);
        readByAll(HandCapture::open(std::move(bytes)));
        ++changed;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(changed, 200u);
}

TEST_F(HostileDevice, ManyBytesOfTheRecordsWild) {
  const std::vector<char> sound = smallCapture();
  const auto places = deviceBytes(HandCapture::open(sound));
  std::mt19937 random(11);
  for (int round = 0; round < (kSanitized ? 100 : 1000); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    std::vector<char> bytes = sound;
    for (uint32_t n = 1 + random() % 40; n > 0; --n) {
      const auto& [from, end] = places[random() % places.size()];
      bytes[from + random() % (end - from)] = static_cast<char>(random());
    }
    readByAll(HandCapture::open(std::move(bytes)));
    if (HasFailure()) return;
  }
}

TEST_F(HostileDevice, CutAfterAnyByte) {
  const std::vector<char> sound = smallCapture();
  for (const auto& [from, end] : deviceBytes(HandCapture::open(sound))) {
    for (size_t at = from; at < end; at += kSanitized ? 31 : 7) {
      SCOPED_TRACE(testing::Message() << "cut at " << at);
      readByAll(HandCapture::open({sound.begin(), sound.begin() + static_cast<ptrdiff_t>(at)}));
      if (HasFailure()) return;
    }
  }
}

// Sound records that say what no device would.
class Crafted {
 public:
  explicit Crafted(uint32_t seed) : random_(seed) {}

  // Threads that share a number share a row; real ones never do at the same time.
  Capture make(int32_t second_thread = 11) {
    HandCapture capture({}, {.policy = CapturePolicy::stop_when_full, .byte_cap = size_t{1} << 20});
    HandThread& main = capture.thread(11, "main");
    HandThread& again = capture.thread(second_thread, "second");
    HandDevice device(capture);
    for (int i = 0; i < 6; ++i) {
      HandThread& on = i % 2 == 0 ? main : again;
      on.begin("scope " + std::to_string(i), 100 * static_cast<uint64_t>(i + 1), {},
               i < 4 ? RecordScope::USER_SCOPE : RecordScope::CUSTOM_CLASS);
    }
    constexpr std::string_view kForms[] = {"",
                                           "\"a\": \1",
                                           "\"a\": 1\1",
                                           "\"a\": \"\2\"",
                                           "\"a\": [\1, \2, \3, \4]",
                                           "\"External id\": \1, \"correlation\": \1",
                                           "\"Captured in\": \1",
                                           "}, {",
                                           "\"b\": {\"c\": \3}",
                                           "\"stream\": \1, \"args cut\": 1"};
    for (int i = 0; i < 60; ++i) {
      DeviceActivity activity;
      activity.role = static_cast<DeviceRole>(random_() % (static_cast<uint32_t>(DeviceRole::pending) + 1));
      activity.clock = static_cast<uint8_t>(random_() % 3 == 0 ? random_() % 3 : 0);
      activity.failed = random_() % 8 == 0;
      activity.type = static_cast<ActivityType>(random_() % static_cast<uint32_t>(ActivityType::ENUM_COUNT));
      activity.start = random_() % 4 == 0 ? static_cast<uint64_t>(number()) : capture.ticks(random_() % 2000);
      activity.end = random_() % 4 == 0 ? static_cast<uint64_t>(number()) : activity.start + random_() % 1000;
      activity.process_id = random_() % 4 == 0 ? number() : 0;
      activity.thread_id = random_() % 4 == 0 ? number() : random_() % 2 == 0 ? 11 : 7;
      activity.correlation = random_() % 4 == 0 ? static_cast<uint64_t>(number()) : random_() % 6;
      activity.node = random_() % 4;
      activity.origin = random_() % 4;  // copies of copies, in circles too
      activity.kind = random_() % 3;
      activity.name = random_() % 8 == 0 ? static_cast<uint32_t>(number()) : capture.site("work " + std::to_string(random_() % 5));
      const std::string_view form = kForms[random_() % std::size(kForms)];
      activity.form = random_() % 8 == 0 ? static_cast<uint32_t>(number()) : form.empty() ? 0 : capture.site(form);
      std::vector<int64_t> values(random_() % 6);
      for (int64_t& value : values) value = random_() % 3 == 0 ? capture.site("text") : number();
      activity.values = values.data();
      activity.value_count = static_cast<uint32_t>(values.size());
      device.putAsItIs(activity, random_() % 2000);
      if (random_() % 10 == 0)
        putDeviceClock(device.thread().writer(), capture.ticks(100), static_cast<uint8_t>(random_() % 3), static_cast<uint64_t>(number()),
                       static_cast<uint64_t>(number()));
      if (random_() % 10 == 0) capture.sink().addDeviceRow(number(), number(), "a row \xff", number());
    }
    for (int i = 0; i < 6; i += 2)
      main.end("scope " + std::to_string(i), 100 * static_cast<uint64_t>(i + 1), 2000 + static_cast<uint64_t>(i), RecordScope::USER_SCOPE);
    return capture.finish(5000);
  }

 private:
  int64_t number() {
    constexpr int64_t kOdd[] = {0,
                                1,
                                -1,
                                7,
                                11,
                                -5,
                                INT32_MAX,
                                INT32_MIN,
                                UINT32_MAX,
                                INT64_MAX,
                                INT64_MIN,
                                INT64_MAX - 1'000'000,
                                int64_t{1} << 48,
                                0xD0000000,
                                0xF0000000,
                                kHandProcess,
                                static_cast<int64_t>(kHandStart)};
    switch (random_() % 8) {
      case 0: return static_cast<int64_t>(uint64_t{random_()} << 32 | random_());
      case 1: return std::bit_cast<int64_t>(std::numeric_limits<double>::infinity());
      default: return kOdd[random_() % std::size(kOdd)];
    }
  }
  std::mt19937 random_;
};

TEST_F(HostileDevice, RecordsThatSayWhatNoDeviceWould) {
  uint64_t before_launch = 0;
  for (uint32_t seed = 1; seed <= (kSanitized ? 150u : 1000u); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Capture capture = Crafted(seed).make();
    readByAll(capture);
    before_launch += Assembled(capture).totals().before_launch;
    if (HasFailure()) return;
  }
  EXPECT_GT(before_launch, 100u) << "work that starts before its call, which parents must survive";
}

// What is crafted lacks what readers expect of kernels and copies; where it lies is ours to say.
TEST_F(HostileDevice, SlicesOfARowNestOrAreDisjoint) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    const std::string says = checkerSays(exportText(Crafted(seed).make(12)));
    EXPECT_FALSE(contains(says, "overlaps")) << "seed " << seed << ": " << says;
    EXPECT_TRUE(says.empty() || contains(says, " events, ")) << says;
  }
}

}  // namespace
}  // namespace xsigma::profiler::test
