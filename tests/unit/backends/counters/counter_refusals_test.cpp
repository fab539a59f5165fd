// What is refused, and what the message says to do.
#include <gtest/gtest.h>

#include "backends/cupti/counters/near_names.h"
#include "counting.h"

namespace {

using namespace counting;

class CounterRefusals : public testing::Test {
 protected:
  void SetUp() override { card() = {}; }
  void TearDown() override {
    EXPECT_EQ(card().enabled, 0);
    EXPECT_EQ(card().hosts, 0);
  }
  static void expectWords(const std::string& message, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " is not in: " << message;
  }
};

TEST_F(CounterRefusals, SayHowToBeAllowed) {
  card().privilege = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  for (const auto interval : {0us, 1000us}) {
    expectWords(Counting({"sm__ctas_launched.sum"}, interval == 0us, interval).refused,
                {"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "NVreg_RestrictProfilingToAdminUsers=0", "--cap-add SYS_ADMIN"});
  }
}

TEST_F(CounterRefusals, BringTheNameThatWasMeant) {
  for (const auto interval : {0us, 1000us}) {
    expectWords(Counting({"dram__bytes_read.sum", "sm__ctas_lunched.sum"}, false, interval).refused,
                {"\"sm__ctas_lunched.sum\" is not known", "near are sm__ctas_launched.sum"});
  }
}

TEST_F(CounterRefusals, CompleteANameWithoutAnEnding) {
  expectWords(Counting({"sm__ctas_launched"}, true).refused, {"\"sm__ctas_launched\" is not complete", "sm__ctas_launched.sum"});
}

TEST_F(CounterRefusals, SayHowManyPassesAndWhatFitsIntoOne) {
  const std::vector<std::string> three{"sm__ctas_launched.sum", "sm__cycles_active.avg", "dram__bytes_read.sum"};
  for (const auto interval : {0us, 1000us}) {
    expectWords(
        Counting(three, false, interval).refused,
        {"need 2 passes on GH100", "Into one pass fit sm__ctas_launched.sum, sm__cycles_active.avg; leave out dram__bytes_read.sum"});
  }
  EXPECT_EQ(Counting(three, true).refused, "") << "kernels are replayed";
}

TEST_F(CounterRefusals, SayHowManyMetricsAreTheMost) {
  std::vector<std::string> many(kMostDeviceValues, "sm__ctas_launched.sum");
  EXPECT_EQ(Counting(many, true).refused, "");
  many.push_back("sm__cycles_active.avg");
  for (const auto interval : {0us, 1000us}) {
    expectWords(Counting(many, false, interval).refused, {"257 metrics were named, and 256 at most", "Ask for fewer"});
  }
}

TEST_F(CounterRefusals, SamplesAndKernelsExcludeEachOther) {
  expectWords(Counting({"sm__ctas_launched.sum"}, true, 1ms).refused, {"exclude each other"});
}

TEST_F(CounterRefusals, NearNamesPreferTheSameUnit) {
  const std::vector<std::string> names{"lts__t_bytes", "dram__bytes_read", "dram__bytes_write", "sm__bytes"};
  EXPECT_EQ(nearNames("dram__byte_read", names, 2), (std::vector<std::string>{"dram__bytes_read", "dram__bytes_write"}));
  EXPECT_EQ(nearNames("sm__byts", names, 1), (std::vector<std::string>{"sm__bytes"}));
  EXPECT_TRUE(nearNames("x", {}, 3).empty());
}

}  // namespace
