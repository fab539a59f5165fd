// The few types of libkineto that clients fill in: words of activity types, metadata, spans and buffers.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "../parsed_json.h"
#include "kineto/ActivityType.h"
#include "kineto/CpuTraceBuffer.h"
#include "kineto/GenericTraceActivity.h"
#include "kineto/TraceSpan.h"

namespace libkineto {
namespace {

using xsigma::profiler::parsed::json;
using xsigma::profiler::parsed::Json;

TEST(ActivityTypes, HaveAWordEachThatLeadsBack) {
  std::set<std::string> words;
  for (const ActivityType type : activityTypes()) {
    EXPECT_TRUE(words.insert(toString(type)).second) << toString(type) << " stands for two";
    EXPECT_EQ(toActivityType(toString(type)), type);
  }
  EXPECT_EQ(words.size(), 29u);
  EXPECT_STREQ(toString(ActivityType::CONCURRENT_KERNEL), "kernel");
  EXPECT_STREQ(toString(ActivityType::ENUM_COUNT), "ENUM_COUNT");
  EXPECT_STREQ(toString(static_cast<ActivityType>(1000)), "ENUM_COUNT");
}

TEST(ActivityTypes, OfAnUnknownWordAreRefused) {
  for (const char* const word : {"", "CPU_OP", "cpu_op ", "kernels", "ENUM_COUNT"}) {
    try {
      toActivityType(word);
      ADD_FAILURE() << word;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("'") + word + "'"), std::string::npos) << error.what();
    }
  }
}

TEST(ActivityTypes, OfTheDefaultEndBeforeTheOptionalOnes) {
  EXPECT_EQ(defaultActivityTypes().size(), static_cast<size_t>(ActivityType::GLOW_RUNTIME));
  EXPECT_EQ(defaultActivityTypes().back(), ActivityType::MTIA_COUNTERS);
  EXPECT_EQ(activityTypes().back(), ActivityType::HARDWARE_COUNTERS);
}

TEST(AnActivity, IsFilledInByHand) {
  const TraceSpan span(10, 20, "span");
  GenericTraceActivity activity(span, ActivityType::CPU_OP, "op");
  activity.startTime = 1000;
  activity.endTime = 1500;
  activity.id = 7;
  activity.setDevice(3);
  activity.resource = 4;
  activity.threadId = 5;
  activity.flow = {9, kLinkAsyncCpuGpu, 1};
  GenericTraceActivity other;
  other.linked = &activity;
  const ITraceActivity& seen = activity;
  EXPECT_EQ(seen.name(), "op");
  EXPECT_EQ(seen.type(), ActivityType::CPU_OP);
  EXPECT_EQ(seen.timestamp(), 1000);
  EXPECT_EQ(seen.duration(), 500);
  EXPECT_EQ(seen.correlationId(), 7);
  EXPECT_EQ(seen.deviceId(), 3);
  EXPECT_EQ(seen.resourceId(), 4);
  EXPECT_EQ(seen.getThreadId(), 5);
  EXPECT_EQ(seen.flowId(), 9);
  EXPECT_EQ(seen.flowType(), 2);
  EXPECT_TRUE(seen.flowStart());
  EXPECT_EQ(seen.traceSpan(), &span);
  EXPECT_EQ(seen.linkedActivity(), nullptr);
  EXPECT_EQ(other.linkedActivity(), &activity);
  EXPECT_EQ(other.type(), ActivityType::ENUM_COUNT);
  EXPECT_EQ(ITraceActivity::nsToUs(1999), 1);
}

TEST(Metadata, KeepsTheFirstWriteOfAKey) {
  GenericTraceActivity activity;
  EXPECT_EQ(activity.metadataJson(), "");
  activity.addMetadata("count", "1");
  activity.addMetadata("count", "2");
  activity.addMetadataQuoted("count", "three");
  activity.addMetadataQuoted("text", "first");
  activity.addMetadata("text", "4");
  const Json members = json("{" + activity.metadataJson() + "}");
  EXPECT_EQ(members.members.size(), 2u);
  EXPECT_EQ(members["count"].number, 1);
  EXPECT_EQ(members["text"].text, "first");
  EXPECT_EQ(activity.getMetadataValue("count"), "1");
  EXPECT_EQ(activity.getMetadataValue("text"), "first");
  EXPECT_EQ(activity.getMetadataValue("absent"), "");
}

TEST(Metadata, IsJsonWhateverTheTexts) {
  std::string every_byte;
  for (int c = 1; c < 0x80; ++c) every_byte += static_cast<char>(c);
  GenericTraceActivity activity;
  activity.addMetadataQuoted("all", every_byte);
  activity.addMetadataQuoted("größe \"\\\n", "→");
  const Json members = json("{" + activity.metadataJson() + "}");
  EXPECT_EQ(members["all"].text, every_byte);
  EXPECT_EQ(members["größe \"\\\n"].text, "→");
  EXPECT_EQ(activity.getMetadataValue("all"), every_byte) << "as it was given";
}

TEST(ASpan, IsOfTimesOrOfIterations) {
  const TraceSpan times(10, 20, "times");
  EXPECT_EQ(times.startTime, 10);
  EXPECT_EQ(times.endTime, 20);
  EXPECT_EQ(times.iteration, -1);
  EXPECT_FALSE(times.tracked);
  const TraceSpan iterations(5, 7, "name", "prefix");
  EXPECT_EQ(iterations.opCount, 5);
  EXPECT_EQ(iterations.iteration, 7);
  EXPECT_EQ(iterations.name, "name");
  EXPECT_EQ(iterations.prefix, "prefix");
  EXPECT_EQ(iterations.startTime, 0);
}

TEST(ABuffer, OwnsItsActivities) {
  CpuTraceBuffer buffer;
  buffer.emplace_activity(buffer.span, ActivityType::CPU_OP, "one");
  buffer.emplace_activity(buffer.span, ActivityType::USER_ANNOTATION, "two");
  ASSERT_EQ(buffer.activities.size(), 2u);
  GenericTraceActivity& first = CpuTraceBuffer::toRef(buffer.activities.front());
  buffer.emplace_activity();
  EXPECT_EQ(&first, buffer.activities.front().get()) << "activities stay where they are";
  EXPECT_EQ(first.name(), "one");
  EXPECT_EQ(first.traceSpan(), &buffer.span);
}

}  // namespace
}  // namespace libkineto
