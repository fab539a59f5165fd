// The list of exporters: what is in it, who gets which file, and what is said when nobody does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "xsigma/profiler/exporter.h"
#include "xsigma/profiler/profiler.h"

namespace {

using namespace xsigma::profiler;
namespace fs = std::filesystem;

class Exporters : public testing::Test {
 protected:
  Exporters() : folder_(testing::TempDir() + "exporters_" + std::to_string(getpid())) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    Recording recording = *startRecording();
    {
      XSIGMA_PROFILE_SCOPE("outer");
      for (int i = 0; i < 3; ++i) {
        XSIGMA_PROFILE_SCOPE("inner");
      }
      recordInstant("mark");
    }
    capture_ = recording.stop();
  }
  ~Exporters() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return folder_ + "/" + name; }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static bool isJson(const std::string& text) {
    return text.rfind("{\n\"schemaVersion\": 1", 0) == 0 && text.size() > 3 && text.substr(text.size() - 3) == "\n}\n";
  }
  static bool isGzip(const std::string& text) { return text.rfind("\x1f\x8b", 0) == 0; }

  const std::string folder_;
  Capture capture_;
};

TEST_F(Exporters, HaveNamesAndEndingsOfTheirOwn) {
  std::set<std::string_view> formats;
  std::set<std::string_view> endings;
  for (const Exporter* const exporter : allExporters()) {
    EXPECT_TRUE(formats.insert(exporter->format()).second) << exporter->format();
    EXPECT_TRUE(endings.insert(exporter->ending()).second) << exporter->ending();
    EXPECT_EQ(exporter->ending().substr(0, 1), ".");
    EXPECT_FALSE(exporter->description().empty());
  }
  EXPECT_TRUE(formats.count("json"));
  EXPECT_TRUE(formats.count("json.gz"));
  EXPECT_EQ(allExporters().front()->format(), "json") << "the first one gets what nobody claims";
}

TEST_F(Exporters, AreFoundByTheEndingOfTheFile) {
  for (const char* const name : {"a.json", "a.pt.trace.json", "a", "a.txt", "a.gz", "json", ".json", "a.JSON"}) {
    ASSERT_TRUE(exportCapture(capture_, in(name)).ok()) << name;
    EXPECT_TRUE(isJson(contents(in(name)))) << name;
  }
  ASSERT_TRUE(exportCapture(capture_, in("a.json.gz")).ok());
  EXPECT_TRUE(isGzip(contents(in("a.json.gz"))));
  ASSERT_TRUE(exportCapture(capture_, in("a.xst")).ok());
  EXPECT_EQ(openCapture(in("a.xst"))->ledger().recorded, 4u);
}

TEST_F(Exporters, AFormatGoesBeforeTheEnding) {
  ASSERT_TRUE(exportCapture(capture_, in("b.json"), {}, "json.gz").ok());
  EXPECT_TRUE(isGzip(contents(in("b.json"))));
  ASSERT_TRUE(exportCapture(capture_, in("b.xst"), {}, "json").ok());
  EXPECT_TRUE(isJson(contents(in("b.xst"))));
  ASSERT_TRUE(exportCapture(capture_, in("c.json"), {}, "xst").ok());
  EXPECT_TRUE(openCapture(in("c.json")).ok());
}

TEST_F(Exporters, AnUnknownFormatIsAnErrorThatNamesTheKnownOnes) {
  const Expected<ExportReport> report = exportCapture(capture_, in("d.json"), {}, "jpeg");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::invalid_argument);
  EXPECT_NE(report.message().find("'jpeg'"), std::string::npos) << report.message();
  for (const Exporter* const exporter : allExporters()) {
    EXPECT_NE(report.message().find(exporter->format()), std::string::npos) << report.message();
  }
  EXPECT_NE(report.message().find("xst"), std::string::npos) << report.message();
  EXPECT_FALSE(fs::exists(in("d.json")));
}

TEST_F(Exporters, ABadPathIsAnErrorAndLeavesNothing) {
  for (const char* const format : {"json", "json.gz", "template", "xst"}) {
    const Expected<ExportReport> missing = exportCapture(capture_, in("no/such/folder.x"), {}, format);
    ASSERT_FALSE(missing.ok()) << format;
    EXPECT_NE(missing.message().find("no/such/folder.x"), std::string::npos) << missing.message();
    EXPECT_FALSE(exportCapture(capture_, folder_, {}, format).ok()) << format;
    EXPECT_FALSE(exportCapture(capture_, "", {}, format).ok()) << format;
    EXPECT_FALSE(exportCapture(capture_, "/dev/full/x", {}, format).ok()) << format;
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Exporters, TheTemplateWritesALineForEachEvent) {
  const Expected<ExportReport> report = exportCapture(capture_, in("e.template.txt"));
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_EQ(report->events, 5u);
  EXPECT_EQ(report->bytes, contents(in("e.template.txt")).size());
  std::istringstream lines(contents(in("e.template.txt")));
  std::string line;
  int outer = 0;
  int inner = 0;
  int marks = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    int64_t thread = 0;
    int64_t start = 0;
    int64_t duration = -1;
    std::string type;
    std::string name;
    words >> thread >> start >> duration >> type >> name;
    EXPECT_EQ(thread, gettid());
    EXPECT_GE(start, capture_.info().start_unix_ns);
    EXPECT_GE(duration, 0);
    outer += name == "outer" && type == "user_annotation";
    inner += name == "inner" && type == "user_annotation";
    marks += name == "mark" && type == "cpu_instant_event";
  }
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 3);
  EXPECT_EQ(marks, 1);
}

}  // namespace
