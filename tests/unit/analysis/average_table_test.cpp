// The averages as a table, as CSV and as JSON.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "assembled.h"
#include "hand_capture.h"
#include "parsed_json.h"
#include "xsigma/profiler/key_averages.h"
#include "xsigma/profiler/scope.h"

namespace xsigma::profiler {
namespace {

using test::contains;
using test::HandCapture;
using test::HandThread;

Capture sample() {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("outer", 0);
  main.scope("inner", 1000, 2'001'000);
  main.scope("inner", 3'000'000, 4'000'000);
  main.end("outer", 0, 10'000'000);
  return capture.finish(20'000'000);
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> wordsOf(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

TEST(AverageTable, HasTorchsColumns) {
  const std::vector<std::string> lines = linesOf(keyAverages(sample()).table());
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0], "-----  ----------  --------  -----------  ---------  ------------  ----------");
  EXPECT_EQ(lines[1], "Name   Self CPU %  Self CPU  CPU total %  CPU total  CPU time avg  # of Calls");
  EXPECT_EQ(lines[3], "outer      70.00%   7.000ms      100.00%   10.000ms      10.000ms           1");
  EXPECT_EQ(lines[4], "inner      30.00%   3.000ms       30.00%    3.000ms       1.500ms           2");
  EXPECT_EQ(lines[5], lines[0]);
  EXPECT_EQ(lines[6], "Self CPU time total: 10.000ms");
}

TEST(AverageTable, TimesHaveTheUnitThatSuitsThem) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("short", 0, 999'999);
  main.scope("middle", 1'000'000, 2'000'000);
  main.scope("long", 2'000'000, 2'500'000'000);
  const std::string table = keyAverages(capture.finish(3'000'000'000)).table();
  EXPECT_TRUE(contains(table, " 999.999us ")) << table;
  EXPECT_TRUE(contains(table, " 1.000ms ")) << table;
  EXPECT_TRUE(contains(table, " 2.498s ")) << table;
}

TEST(AverageTable, IsSortedAsAskedFor) {
  const KeyAverages averages = keyAverages(sample());
  const auto first = [&](const char* key) {
    TableOptions options;
    options.sort_by = key;
    return wordsOf(linesOf(averages.table(options))[3])[0];
  };
  EXPECT_EQ(first("self_cpu_time_total"), "outer");
  EXPECT_EQ(first("cpu_time_total"), "outer");
  EXPECT_EQ(first("count"), "inner");
  EXPECT_EQ(first("name"), "inner");
  EXPECT_EQ(first("min"), "outer");
  EXPECT_EQ(first("stddev"), "inner");
  EXPECT_EQ(first(""), "outer");
  EXPECT_EQ(first("self_cuda_time_total"), "outer");  // they tie: in the order in which they ran
  try {
    first("speed");
    FAIL() << "there is no such key";
  } catch (const ProfilerError& error) {
    EXPECT_TRUE(contains(error.what(), "'speed'")) << error.what();
    EXPECT_TRUE(contains(error.what(), "self_cpu_time_total")) << error.what();
  }
}

TEST(AverageTable, SaysHowManyRowsItLeavesOut) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (int i = 0; i < 12; ++i) main.scope("scope " + std::to_string(i), static_cast<uint64_t>(i) * 10, static_cast<uint64_t>(i) * 10 + 5);
  const KeyAverages averages = keyAverages(capture.finish(1000));
  TableOptions options;
  options.row_limit = 10;
  EXPECT_TRUE(contains(averages.table(options), "\n2 more rows: row_limit is 10\n"));
  options.row_limit = -1;
  EXPECT_FALSE(contains(averages.table(options), "more rows"));
}

TEST(AverageTable, OfThousandsOfRowsIsMadeAtOnce) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  for (uint64_t i = 0; i < 20'000; ++i) main.scope("scope " + std::to_string(i), i * 10, i * 10 + 5);
  const KeyAverages averages = keyAverages(capture.finish(1'000'000));
  TableOptions options;
  options.row_limit = -1;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(linesOf(averages.table(options)).size(), 20'005u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));  // 23 s where widths are found anew for each line
}

TEST(AverageTable, TopLevelRowsAlone) {
  TableOptions options;
  options.top_level_events_only = true;
  options.header = "what the program did";
  const std::string table = keyAverages(sample()).table(options);
  EXPECT_FALSE(contains(table, "inner"));
  EXPECT_TRUE(contains(table, "outer"));
  EXPECT_EQ(table.rfind("what the program did\n", 0), 0u);
}

TEST(AverageTable, StatisticsOnDemand) {
  TableOptions options;
  options.statistics = true;
  const std::string table = keyAverages(sample()).table(options);
  for (const char* const header : {"Min", "Median", "P95", "P99", "Max", "Std dev"}) EXPECT_TRUE(contains(table, header)) << header;
  // of 1 ms and 2 ms: 0.95 and 0.99 of the way between them
  const std::vector<std::string> inner = wordsOf(linesOf(table)[4]);
  ASSERT_EQ(inner.size(), 13u);
  EXPECT_EQ((std::vector<std::string>(inner.begin() + 6, inner.begin() + 12)),
            (std::vector<std::string>{"1.000ms", "1.500ms", "1.950ms", "1.990ms", "2.000ms", "500.000us"}));
}

TEST(AverageTable, LongNamesAreCutAndStillLineUp) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope(std::string(100, 'x'), 0, 10);
  main.scope("größe\nzwei", 20, 30);
  const std::vector<std::string> lines = linesOf(keyAverages(capture.finish(100)).table());
  EXPECT_TRUE(contains(lines[3] + lines[4], std::string(52, 'x') + "...  "));
  EXPECT_TRUE(contains(lines[3] + lines[4], "größe zwei  "));
  const auto width = [](const std::string& line) {
    return std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  };
  EXPECT_EQ(width(lines[3]), width(lines[4]));
}

TEST(AverageTable, MemoryAndDeviceColumnsComeWithWhatTheyShow) {
  EXPECT_FALSE(contains(keyAverages(sample()).table(), "Mem"));
  EXPECT_FALSE(contains(keyAverages(sample()).table(), "CUDA"));
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.begin("allocate", 0);
  main.memory(5, 0x10, 3 << 20, 0, 0);
  main.memory(6, 0x20, -1536, 0, 0);
  main.memory(7, 0x30, 100, 0, 0, {DeviceType::CUDA, 0});
  main.end("allocate", 0, 10);
  const std::string table = keyAverages(capture.finish(100)).table();
  for (const char* const header : {"  CPU Mem", "Self CPU Mem", "  CUDA Mem", "Self CUDA Mem"})
    EXPECT_TRUE(contains(table, header)) << header;
  EXPECT_TRUE(contains(table, "3.00 MB")) << table;
  EXPECT_TRUE(contains(table, "100 b")) << table;
  EXPECT_FALSE(contains(table, "Memory below zero")) << table;
  HandCapture released;
  HandThread& other = released.thread(11, "main");
  other.begin("release", 0);
  other.memory(5, 0x10, -4096, 0, 0);
  other.end("release", 0, 10);
  EXPECT_TRUE(contains(keyAverages(released.finish(100)).table(), "Memory below zero: more was released there than allocated\n"));
}

TEST(AverageTable, FlopsInTheUnitOfTheLargest) {
  const int64_t sizes[] = {1000, 1000};
  const TensorInfo a{nullptr, sizes, nullptr, 2, "float", {}};
  const std::vector<InputValue> inputs{a, a};
  capture::OpDetails details;
  details.inputs = InputList(inputs);
  HandCapture capture;
  capture.property("with_flops", "1");
  HandThread& main = capture.thread(11, "main");
  main.scope("mm", 0, 100, details);
  main.scope("add", 200, 300, details);
  main.scope("none", 400, 500);
  const std::string table = keyAverages(capture.finish(1000)).table();
  EXPECT_TRUE(contains(table, "Total GFLOPs")) << table;
  EXPECT_TRUE(contains(table, " 2.000\n")) << table;
  EXPECT_TRUE(contains(table, " 0.001\n")) << table;
  EXPECT_TRUE(contains(table, " --\n")) << table;
}

TEST(AverageTable, SaysWhatWasLost) {
  CaptureOptions options;
  options.byte_cap = 64 << 10;
  Recording recording = *startRecording(options);
  for (int i = 0; i < 20'000; ++i) {
    XSIGMA_PROFILE_SCOPE("scope");
  }
  const Capture done = recording.stop();
  const KeyAverages averages = keyAverages(done);
  EXPECT_GT(averages.lost(), 0u);
  EXPECT_EQ(averages.at("scope").calls + averages.lost(), 20'000u);
  EXPECT_TRUE(contains(averages.table(), std::to_string(averages.lost()) + " scopes were lost")) << averages.table();
}

TEST(AverageCsv, QuotesWhatNeedsIt) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.scope("a,b \"c\"", 0, 10);
  const std::vector<std::string> lines = linesOf(keyAverages(capture.finish(100)).csv());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            "name,device,user_annotation,async,thread,input_shapes,stack,calls,unfinished,self_cpu_time_total_ns,cpu_time_total_ns,"
            "self_device_time_total_ns,device_time_total_ns,self_cpu_memory_usage,cpu_memory_usage,self_device_memory_usage,"
            "device_memory_usage,flops,min_ns,max_ns,mean_ns,median_ns,stddev_ns,p95_ns,p99_ns\r");
  EXPECT_EQ(lines[1], "\"a,b \"\"c\"\"\",CPU,false,false,,,,1,0,10,10,0,0,0,0,0,0,0,10,10,10,10,0,10,10\r");
}

TEST(AverageJson, SaysTheSame) {
  const parsed::Json json = parsed::JsonReader(keyAverages(sample(), {false, 1, true}).json()).whole();
  EXPECT_EQ(json["self_cpu_time_total_ns"].number, 10'000'000);
  EXPECT_EQ(json["wall_ns"].number, 20'000'000);
  EXPECT_EQ(json["threads"].number, 1);
  ASSERT_EQ(json["rows"].items.size(), 2u);
  const parsed::Json& inner = json["rows"].items[1];
  EXPECT_EQ(inner["name"].text, "inner");
  EXPECT_EQ(inner["thread"].text, "main (11)");
  ASSERT_EQ(inner["stack"].items.size(), 1u);
  EXPECT_EQ(inner["stack"].items[0].text, "outer");
  EXPECT_EQ(inner["calls"].number, 2);
  EXPECT_EQ(inner["self_cpu_time_total_ns"].number, 3'000'000);
  EXPECT_EQ(inner["p99_ns"].number, 1'990'000);
}

TEST(AverageFiles, AreChosenByTheirEnding) {
  const KeyAverages averages = keyAverages(sample());
  const auto saved = [&](const char* name) {
    const std::string path = test::exportPath(name);
    averages.save(path);
    const std::string text = test::fileText(path);
    unlink(path.c_str());
    return text;
  };
  EXPECT_EQ(saved("a.csv"), averages.csv());
  EXPECT_EQ(saved("a.json"), averages.json());
  EXPECT_EQ(saved("a.txt"), averages.table());
  EXPECT_THROW(averages.save("/nowhere at all/a.csv"), ProfilerError);
}

}  // namespace
}  // namespace xsigma::profiler
