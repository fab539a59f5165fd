// A memory profile as JSON and as a page: read back, and compared with what was worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/memory_series.h"
#include "analysis/memory_summary.h"
#include "assembled.h"
#include "hand_capture.h"
#include "parsed_json.h"
#include "xsigma/profiler/memory.h"

namespace xsigma::profiler::test {
namespace {

using parsed::Json;

std::string saved(const MemoryProfile& profile, const std::string& name) {
  const std::string path = exportPath(name);
  const Status status = profile.save(path);
  EXPECT_TRUE(status.ok()) << status.message();
  const std::string text = fileText(path);
  unlink(path.c_str());
  return text;
}

// "[0,1,2]"
std::string list(const Json& array) {
  std::string text;
  for (const Json& item : array.items) {
    text += (text.empty() ? "" : ",") + (item.kind == Json::Kind::array ? list(item) : item.text);
  }
  return "[" + text + "]";
}

Capture training() {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  HandThread& worker = capture.thread(12, "worker");
  const std::string parameter = kMemoryCategoryScope + std::string("parameter");
  main.begin(parameter, 1000);
  main.begin("load", 1100);
  main.memory(2500, 0x1000, 4096, 5000, 8192);
  main.end("load", 1100, 3000);
  main.end(parameter, 1000, 3100);
  worker.begin("step", 4000);
  worker.begin("multiply", 4100);
  worker.memory(5000, 0x2000, 100, 5100, 8192);
  worker.memory(6000, 0x2000, -100, 5000, 8192);
  worker.outOfMemory(6500, 1 << 20, 5000, 8192);
  worker.end("multiply", 4100, 7000);
  worker.memory(8000, 0x3000, 10, 5010, 8192);
  worker.memory(8500, 0x9000, -7, 5003, 8192);
  worker.end("step", 4000, 9000);
  return capture.finish(10'000);
}

TEST(MemoryJson, HasEveryEvent) {
  const Json json = parsed::json(saved(analyzeMemory(training()), "memory.json"));
  ASSERT_EQ(json["device_traces"].items.size(), 1u);
  struct Expected {
    const char* action;
    const char* time_us;
    double addr, size, allocated, total;
    const char* category;
    const char* scope;
  };
  const Expected expected[] = {
      {"alloc", "2.500", 0x1000, 4096, 4096, 5000, "parameter", "load"},
      {"alloc", "5.000", 0x2000, 100, 4196, 5100, "temporary", "multiply"},
      {"free_completed", "6.000", 0x2000, 100, 4096, 5000, "temporary", "multiply"},
      {"oom", "6.500", 0, 1 << 20, 4096, 5000, "unknown", "multiply"},
      {"alloc", "8.000", 0x3000, 10, 4106, 5010, "unknown", "step"},
      {"free_unknown", "8.500", 0x9000, 7, 4106, 5003, "unknown", "step"},
  };
  const std::vector<Json>& events = json["device_traces"].items[0].items;
  ASSERT_EQ(events.size(), std::size(expected));
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["action"].text, expected[i].action);
    EXPECT_EQ(events[i]["time_us"].text, expected[i].time_us);
    EXPECT_EQ(events[i]["addr"].number, expected[i].addr);
    EXPECT_EQ(events[i]["size"].number, expected[i].size);
    EXPECT_EQ(events[i]["allocated"].number, expected[i].allocated);
    EXPECT_EQ(events[i]["total_allocated"].number, expected[i].total);
    EXPECT_EQ(events[i]["total_reserved"].number, 8192);
    EXPECT_EQ(events[i]["category"].text, expected[i].category);
    const Json& scope = json["scopes"].items.at(static_cast<size_t>(events[i]["scope"].number));
    EXPECT_EQ(scope["name"].text, expected[i].scope);
    EXPECT_EQ(json["threads"].items.at(static_cast<size_t>(events[i]["thread"].number))["name"].text, i == 0 ? "main" : "worker");
  }
}

TEST(MemoryJson, HasPeakLeaksFailuresAndLosses) {
  const Json json = parsed::json(saved(analyzeMemory(training()), "memory.json"));
  EXPECT_EQ(json["schemaVersion"].number, 1);
  EXPECT_EQ(json["start_ns"].text, std::to_string(kHandRealtime));
  EXPECT_EQ(json["duration_us"].text, "10.000");
  EXPECT_FALSE(json["empty"].boolean);
  EXPECT_TRUE(json["losses"]["whole"].boolean);
  const Json& device = json["devices"].items.at(0);
  EXPECT_EQ(device["type"].text, "CPU");
  EXPECT_EQ(device["index"].number, -1);
  EXPECT_EQ(device["allocations"].number, 3);
  EXPECT_EQ(device["releases"].number, 1);
  EXPECT_EQ(device["unknown_releases"].number, 1);
  EXPECT_EQ(device["unknown_released_bytes"].number, 7);
  EXPECT_EQ(device["peak"]["time_us"].text, "5.000");
  EXPECT_EQ(device["peak"]["allocated"].number, 4196);
  EXPECT_EQ(device["peak"]["categories"]["temporary"].number, 100);
  EXPECT_EQ(device["peak"]["holders"].items.at(1)["path"].text, "step > multiply");
  EXPECT_EQ(device["peak"]["holders"].items.at(1)["size"].number, 100);
  const Json& oom = device["out_of_memory"].items.at(0);
  EXPECT_EQ(oom["size"].number, 1 << 20);
  EXPECT_EQ(oom["path"].text, "step > multiply");
  EXPECT_EQ(oom["holders"].items.at(0)["path"].text, "load");
  const Json& leaks = device["leaks"];
  EXPECT_EQ(leaks["count"].number, 2);
  EXPECT_EQ(leaks["size"].number, 4106);
  EXPECT_EQ(leaks["blocks"].items.at(1)["addr"].number, 0x3000);
  EXPECT_EQ(leaks["blocks"].items.at(1)["path"].text, "step");
  EXPECT_EQ(leaks["blocks"].items.at(1)["time_us"].text, "8.000");
  EXPECT_EQ(leaks["by_scope"].items.at(0)["path"].text, "load");
}

TEST(MemoryJson, RowsCanBeStacked) {
  const Json json = parsed::json(saved(analyzeMemory(training()), "memory.json"));
  const Json& timeline = json["devices"].items.at(0)["timeline"];
  EXPECT_FALSE(timeline["sampled"].boolean);
  EXPECT_EQ(list(timeline["categories"]), "[parameter,optimizer_state,input,temporary,activation,gradient,autograd_detail,unknown]");
  EXPECT_EQ(list(timeline["times"]), "[0.000,2.500,5.000,6.000,8.000,10.000]");
  EXPECT_EQ(list(timeline["sizes"]),
            "[[0,0,0,0,0,0,0,0,0],[0,4096,0,0,0,0,0,0,0],[0,4096,0,0,100,0,0,0,0],[0,4096,0,0,0,0,0,0,0],[0,4096,0,0,0,0,0,0,10],"
            "[0,4096,0,0,0,0,0,0,10]]");
  const Json& by_scope = json["devices"].items.at(0)["by_scope"];
  EXPECT_EQ(list(by_scope["paths"]), "[load,step > multiply,step]");
  EXPECT_FALSE(by_scope["others"].boolean);
  EXPECT_EQ(list(by_scope["sizes"]), "[[0,0,0,0],[0,4096,0,0],[0,4096,100,0],[0,4096,0,0],[0,4096,0,10],[0,4096,0,10]]");
}

Capture manyEvents(uint64_t events, uint64_t scopes) {
  HandCapture capture({}, {.policy = CapturePolicy::unbounded});
  HandThread& main = capture.thread(11, "main");
  for (uint64_t i = 0; i < events; ++i) {
    const std::string name = "scope " + std::to_string(i % scopes);
    const int64_t bytes = i == events / 3 ? 1'000'000 : static_cast<int64_t>(10 * (i % scopes + 1));  // one spike
    main.begin(name, 100 * i + 10);
    main.memory(100 * i + 20, i + 1, bytes, 0, 0);
    if (i % 1000 != 0) main.memory(100 * i + 30, i + 1, -bytes, 0, 0);
    main.end(name, 100 * i + 10, 100 * i + 40);
  }
  return capture.finish(100 * events + 100);
}

TEST(MemorySeries, OfManyEventsKeepsThePeakAndEveryLastState) {
  const MemoryProfile profile = analyzeMemory(manyEvents(20'000, 14));
  const MemoryDevice& device = profile.devices.at(0);
  const analysis::MemorySeries series = analysis::seriesOf(profile, device);
  EXPECT_TRUE(series.sampled);
  EXPECT_LE(series.rows.size(), analysis::kMostRows + 2);
  EXPECT_GT(series.rows.size(), analysis::kMostRows / 2);
  EXPECT_EQ(series.scopes.size(), analysis::kMostScopes);
  EXPECT_TRUE(series.has_others);
  uint64_t most = 0;
  for (size_t i = 0; i < series.rows.size(); ++i) {
    const analysis::MemorySeries::Row& row = series.rows[i];
    uint64_t by_category = 0;
    uint64_t by_scope = 0;
    for (const uint64_t bytes : row.by_category) by_category += bytes;
    for (const uint64_t bytes : row.by_scope) by_scope += bytes;
    EXPECT_EQ(by_category, by_scope);
    EXPECT_LE(series.rows[i > 0 ? i - 1 : 0].time_ns, row.time_ns);
    most = std::max(most, by_category);
    // Each row is the true state at its time.
    const auto after = std::upper_bound(device.events.begin(), device.events.end(), row.time_ns,
                                        [](int64_t time_ns, const MemoryEvent& event) { return time_ns < event.time_ns; });
    EXPECT_EQ(by_category, after == device.events.begin() ? 0 : std::prev(after)->allocated);
  }
  EXPECT_EQ(most, device.peak.bytes);
  EXPECT_GT(most, 1'000'000u);
  EXPECT_EQ(series.rows.back().time_ns, profile.end_ns);
}

TEST(MemoryFile, AnEmptyProfileSaysSoInBothForms) {
  HandCapture capture;
  capture.thread(11, "main").scope("scope", 10, 20);
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const Json json = parsed::json(saved(profile, "memory.json"));
  EXPECT_TRUE(json["empty"].boolean);
  EXPECT_TRUE(contains(json["summary"].text, "Nobody reported memory"));
  EXPECT_TRUE(json["devices"].items.empty());
  EXPECT_TRUE(contains(saved(profile, "memory.html"), "Nobody reported memory"));
}

TEST(MemoryFile, LossesAreSaidAloud) {
  HandCapture small({}, {.policy = CapturePolicy::stop_when_full, .byte_cap = kMinimumByteCap});
  HandThread& writer = small.thread(11, "main");
  for (uint64_t i = 1; i <= 5000; ++i) writer.memory(10 * i, i, 1, i, 0);
  const MemoryProfile profile = analyzeMemory(small.finish(100'000));
  const std::string words = analysis::countText(profile.lost_reports, "report") + " of memory and of other marks were lost: room ran out";
  EXPECT_TRUE(contains(saved(profile, "memory.html"), words));
  const Json json = parsed::json(saved(profile, "memory.json"));
  EXPECT_FALSE(json["losses"]["whole"].boolean);
  EXPECT_EQ(json["losses"]["reports"].number, static_cast<double>(profile.lost_reports));
  EXPECT_TRUE(contains(json["summary"].text, words));
}

TEST(MemoryPage, WithoutAllocationsClaimsNoPeakAndNoReleases) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "main");
  main.outOfMemory(60, 4096, 0, 0);
  const std::string page = saved(analyzeMemory(capture.finish(1000)), "memory.html");
  EXPECT_TRUE(contains(page, "<h1>No allocation was seen on CPU, only 1 allocation that failed.</h1>"));
  EXPECT_FALSE(contains(page, "peak 0 bytes"));
  EXPECT_FALSE(contains(page, "was released before its end"));
}

TEST(MemoryPage, NeedsNothingFromOutside) {
  const std::string page = saved(analyzeMemory(training()), "memory.html");
  for (const char* const outside : {"src=", "href=", "@import", "url(", "fetch(", "import("})
    EXPECT_FALSE(contains(page, outside)) << outside;
  EXPECT_EQ(countOf(page, "http"), 1u);  // the name of the SVG namespace
  EXPECT_TRUE(contains(page, "<h1>CPU memory peaked at 4.1 KiB, 5.0 µs after the start of the recording.</h1>")) << page.substr(0, 9000);
  EXPECT_TRUE(contains(page, "1.0 MiB were asked for in “step &gt; multiply”"));
  EXPECT_TRUE(contains(page, "Nothing was lost"));
}

TEST(MemoryPage, NamesCannotBreakOutOfIt) {
  HandCapture capture;
  HandThread& main = capture.thread(11, "</td><script>alert(1)</script>");
  const std::string names[] = {"</script><script>alert(2)</script>", "\"><img onerror='x'>", "<!-- & -->", "\xff\x01 größe"};
  uint64_t at = 10;
  for (const std::string& name : names) {
    main.begin(name, at);
    main.memory(at + 1, at, 100, 0, 0);
    main.outOfMemory(at + 2, 5, 0, 0);
    main.end(name, at, at + 5);
    at += 10;
  }
  const MemoryProfile profile = analyzeMemory(capture.finish(1000));
  const std::string page = saved(profile, "memory.html");
  EXPECT_EQ(countOf(page, "<script"), 2u);  // ours
  EXPECT_EQ(countOf(page, "</script"), 2u);
  EXPECT_EQ(countOf(page, "<img"), 0u);
  EXPECT_EQ(countOf(page, "<!--"), 0u);
  EXPECT_TRUE(contains(page, "&lt;/script&gt;&lt;script&gt;alert(2)"));
  EXPECT_FALSE(contains(page, "\xff"));
  const size_t from = page.find("id=\"data\">") + 10;
  const Json data = parsed::json(page.substr(from, page.find("</script>", from) - from));
  std::vector<std::string> shown;
  for (const Json& name : data["devices"].items.at(0)["by_scope"]["names"].items) shown.push_back(name.text);
  EXPECT_EQ(shown.at(0), names[0]);
  EXPECT_EQ(shown.at(1), names[1]);
  EXPECT_EQ(shown.at(2), names[2]);
  EXPECT_NO_THROW(parsed::json(saved(profile, "memory.json")));
}

TEST(MemoryFile, OtherEndingsAndFoldersThatAreNotThereAreRefused) {
  const MemoryProfile profile = analyzeMemory(training());
  for (const char* const path : {"memory.pickle", "memory", "", ".html", "memory.html.gz"}) {
    const Status status = profile.save(path);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << path;
    EXPECT_TRUE(contains(status.message(), ".json")) << status.message();
    EXPECT_TRUE(contains(status.message(), ".html")) << status.message();
  }
  const Status status = profile.save(exportPath("no such folder/memory.json"));
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_TRUE(contains(status.message(), "the memory profile")) << status.message();
}

}  // namespace
}  // namespace xsigma::profiler::test
