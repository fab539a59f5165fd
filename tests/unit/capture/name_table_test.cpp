// Every name once.
#include "capture/name_table.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/format.h"

namespace xsigma::profiler::capture {
namespace {

TEST(NameTable, GivesTheSameTextTheSameIdAndCopiesIt) {
  NameTable table;
  std::string text = "first";
  const uint32_t id = table.internString(text);
  EXPECT_EQ(id, 1u);
  text = "other";
  EXPECT_EQ(table.string(id), "first");
  EXPECT_EQ(table.internString("first"), id);
  EXPECT_EQ(table.internString(text), 2u);
  EXPECT_EQ(table.stringCount(), 2u);
  EXPECT_EQ(table.internString(""), 0u);
  EXPECT_EQ(table.string(0), "");
}

TEST(NameTable, TellsPlacesApartByNameFileLineAndKind) {
  NameTable table;
  const uint32_t site = table.internSite("name", "file", 1, RecordScope::USER_SCOPE);
  EXPECT_EQ(table.internSite("name", "file", 1, RecordScope::USER_SCOPE), site);
  EXPECT_NE(table.internSite("name", "file", 2, RecordScope::USER_SCOPE), site);
  EXPECT_NE(table.internSite("name", "else", 1, RecordScope::USER_SCOPE), site);
  EXPECT_NE(table.internSite("name", "file", 1, RecordScope::FUNCTION), site);
  EXPECT_EQ(table.siteCount(), 4u);
  EXPECT_EQ(table.string(table.site(site).name), "name");
  EXPECT_EQ(table.site(site).line, 1u);
}

TEST(NameTable, KeepsItsIdsAsItGrows) {
  constexpr uint32_t kMany = 20'000;
  NameTable table;
  for (uint32_t i = 1; i <= kMany; ++i) ASSERT_EQ(table.internSite("name " + std::to_string(i), {}, 0, RecordScope::FUNCTION), i);
  for (uint32_t i = 1; i <= kMany; ++i) {
    ASSERT_EQ(table.internSite("name " + std::to_string(i), {}, 0, RecordScope::FUNCTION), i);
    ASSERT_EQ(table.string(table.site(i).name), "name " + std::to_string(i));
  }
  EXPECT_EQ(table.siteCount(), kMany);
}

TEST(NameTable, CutsNamesThatAreLongerThanTheFormatHolds) {
  NameTable table;
  const std::string longest(kMaxStringBytes, 'x');
  const uint32_t id = table.internString(longest + "tail");
  EXPECT_EQ(table.string(id), longest);
  EXPECT_EQ(table.internString(longest), id);
}

}  // namespace
}  // namespace xsigma::profiler::capture
