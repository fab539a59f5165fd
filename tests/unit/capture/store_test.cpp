// The bytes of a capture: in memory, or in a file that has its name only once it is sound.
#include "capture/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

namespace xsigma::profiler::capture {
namespace {

std::string pathOf(const char* name) { return ::testing::TempDir() + "xsigma_store_" + std::to_string(getpid()) + name; }

off_t sizeOf(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 ? about.st_size : -1;
}

TEST(Store, InMemoryIsZeroedAndWritableToItsLastByte) {
  const Expected<Store> store = Store::create("", 10'000);
  ASSERT_TRUE(store.ok()) << store.message();
  EXPECT_EQ(store->reservedBytes(), 12'288u);
  EXPECT_EQ(reinterpret_cast<size_t>(store->base()) % (2 << 20), 0u);
  for (size_t i = 0; i < store->reservedBytes(); ++i) ASSERT_EQ(store->base()[i], 0);
  store->base()[store->reservedBytes() - 1] = 'x';
}

TEST(Store, InAFileHasItsNameOnlyAfterPublish) {
  const std::string path = pathOf("named.xst");
  Expected<Store> store = Store::create(path, 1 << 20);
  ASSERT_TRUE(store.ok()) << store.message();
  EXPECT_EQ(sizeOf(path), -1);
  ASSERT_TRUE(store->publish().ok());
  EXPECT_GT(sizeOf(path), 0);
  std::strcpy(store->base(), "hello");
  store->trim(4096);
  EXPECT_EQ(sizeOf(path), 4096);
  unlink(path.c_str());
}

TEST(Store, ThatIsNeverPublishedLeavesNothing) {
  const std::string path = pathOf("never.xst");
  { const Expected<Store> store = Store::create(path, 1 << 20); }
  EXPECT_EQ(sizeOf(path), -1);
  const std::filesystem::path whole(path);
  for (const auto& entry : std::filesystem::directory_iterator(whole.parent_path())) {
    EXPECT_NE(entry.path().filename().string().rfind(whole.filename().string(), 0), 0u) << entry.path() << " was left behind";
  }
}

TEST(Store, GrowsItsFileAheadOfNeedAndNotBeyondTheReserve) {
  const std::string path = pathOf("grows.xst");
  Expected<Store> store = Store::create(path, 3 << 20);
  ASSERT_TRUE(store.ok()) << store.message();
  EXPECT_TRUE(store->back(8192));
  EXPECT_GE(store->backedBytes(), 8192u);
  EXPECT_TRUE(store->back(3 << 20));
  EXPECT_EQ(store->backedBytes(), 3u << 20);
  store->base()[store->backedBytes() - 1] = 'x';
  EXPECT_FALSE(store->back((3 << 20) + 1));
}

TEST(Store, RefusesANameThatSomebodyRecordsTo) {
  const std::string path = pathOf("held.xst");
  Expected<Store> first = Store::create(path, 1 << 20);
  ASSERT_TRUE(first->publish().ok());
  {
    Expected<Store> second = Store::create(path, 1 << 20);
    EXPECT_EQ(second->publish().code(), StatusCode::busy);
  }
  first->trim(4096);
  Expected<Store> third = Store::create(path, 1 << 20);
  EXPECT_TRUE(third->publish().ok()) << "finished files may be replaced";
  unlink(path.c_str());
}

}  // namespace
}  // namespace xsigma::profiler::capture
