// A library that is unloaded with dlclose leaves its names readable.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "capture_reading.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler::test {
namespace {

void useAndUnload() {
  void* const library = dlopen(XSIGMA_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto step = reinterpret_cast<void (*)()>(dlsym(library, "pluginStep"));
  ASSERT_NE(step, nullptr) << dlerror();
  step();
  ASSERT_EQ(dlclose(library), 0) << dlerror();
  ASSERT_EQ(dlopen(XSIGMA_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr) << "it is still loaded, so this shows nothing";
}

TEST(UnloadedLibrary, LeavesItsNamesReadable) {
  const TemporaryFile file("unloaded.xst");
  Recording recording = record({.path = file.path});
  useAndUnload();
  const Capture capture = recording.stop();
  const Expected<Capture> opened = openCapture(file.path);
  ASSERT_TRUE(opened.ok()) << opened.message();
  for (const Capture& each : {capture, *opened}) {
    EXPECT_EQ(countRecords(each, RecordKind::scope_end, "plugin.static_name"), 1u);
    EXPECT_EQ(countRecords(each, RecordKind::scope_end, "plugin.dynamic_name"), 1u);
    each.forEachRecord([](const CaptureRecord& record) {
      if (record.name != "plugin.static_name") return;
      EXPECT_NE(record.file.find("unloaded_library.cpp"), std::string_view::npos);
      EXPECT_GT(record.line, 0u);
    });
  }
}

TEST(UnloadedLibrary, AHundredTimesTakesNoMoreRoomThanOnce) {
  useAndUnload();
  { const Recording warm = record(); useAndUnload(); }
  const uint64_t empty = record().stop().info().bytes_used;
  Recording recording = record();
  for (int i = 0; i < 100; ++i) useAndUnload();
  const Capture capture = recording.stop();
  EXPECT_EQ(countRecords(capture, RecordKind::scope_end, "plugin.static_name"), 100u);
  EXPECT_TRUE(capture.ledger().whole());
  EXPECT_LE(capture.info().bytes_used, empty + 3 * 4096) << "records of 200 scopes, and no new names";
}

}  // namespace
}  // namespace xsigma::profiler::test
