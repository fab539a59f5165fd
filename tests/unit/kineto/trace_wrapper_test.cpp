// TraceWrapper: activities that a client collected itself, handed over to the trace that is running.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../parsed_json.h"
#include "../profiled.h"
#include "../warnings.h"
#include "xsigma/profiler/kineto_shim.h"

namespace xsigma::profiler {
namespace {

using namespace profiled;
namespace shim = impl::kineto;
using libkineto::ActivityType;

constexpr shim::DeviceAndResource kElsewhere{4242, 77};

// What `fill` adds, as the trace shows it.
template <typename Fill>
parsed::Json handedOver(Fill fill) {
  const Folder folder;
  shim::startTrace();
  shim::TraceWrapper wrapper(wallNs(), "PyTorch Profiler");
  fill(wrapper);
  wrapper.transferCpuTrace(wallNs());
  const ActivityTraceWrapper trace = shim::stopTrace();
  trace.save(folder / "trace.json");
  return parsed::jsonFile(folder / "trace.json");
}

// "baseTimeNanoseconds" plus ts, in nanoseconds.
int64_t startOf(const parsed::Json& trace, const parsed::Json& event) {
  return std::stoll(trace["baseTimeNanoseconds"].text) + std::llround(event["ts"].number * 1000);
}

TEST(HandedOver, AnActivityHasItsTimesPlaceAndMetadata) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    EXPECT_TRUE(static_cast<bool>(wrapper));
    shim::activity_t* const activity = wrapper.addCPUActivity("my op", ActivityType::CPU_OP, kElsewhere, 99, start, start + 12345);
    ASSERT_NE(activity, nullptr);
    EXPECT_EQ(activity->timestamp(), start);
    EXPECT_EQ(activity->duration(), 12345);
    shim::addMetadata(activity, "grid", "[1, 2]");
    activity->addMetadataQuoted("note", "a \"text\"");
    shim::addMetadata(nullptr, "nobody", "1");
  });
  const std::vector<parsed::Json> found = parsed::traceEvents(trace, "my op", "X");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["cat"].text, "cpu_op");
  EXPECT_EQ(found[0]["pid"].number, 4242);
  EXPECT_EQ(found[0]["tid"].number, 77);
  EXPECT_EQ(startOf(trace, found[0]), start);
  EXPECT_EQ(found[0]["dur"].text, "12.345");
  EXPECT_EQ(found[0]["args"]["External id"].number, 99);
  EXPECT_EQ(found[0]["args"]["grid"].items.size(), 2u);
  EXPECT_EQ(found[0]["args"]["note"].text, "a \"text\"");
}

TEST(HandedOver, OneOfEachTypeHasItsCategory) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    int64_t at = start;
    for (const ActivityType type : libkineto::activityTypes()) {
      wrapper.addCPUActivity(std::string("a ") + libkineto::toString(type), type, kElsewhere, 1, at, at + 1000);
      at += 2000;
    }
  });
  for (const ActivityType type : libkineto::activityTypes()) {
    const std::vector<parsed::Json> found = parsed::traceEvents(trace, std::string("a ") + libkineto::toString(type));
    ASSERT_EQ(found.size(), 1u) << libkineto::toString(type);
    EXPECT_EQ(found[0]["cat"].text, libkineto::toString(type));
    EXPECT_EQ(found[0]["ph"].text, type == ActivityType::CPU_INSTANT_EVENT ? "i" : "X");
  }
}

TEST(HandedOver, AnInstantHasNoEnd) {
  const int64_t start = wallNs();
  handedOver([&](shim::TraceWrapper& wrapper) {
    EXPECT_EQ(wrapper.addCPUActivity("now", ActivityType::CPU_INSTANT_EVENT, kElsewhere, 1, start, start + 1000)->endTime, 0);
  });
}

TEST(HandedOver, ForwardAndBackwardAreLinked) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    shim::activity_t* const forward = wrapper.addCPUActivity("forward", ActivityType::CPU_OP, {4242, 1}, 1, start, start + 1000);
    shim::activity_t* const backward = wrapper.addCPUActivity("backward", ActivityType::CPU_OP, {4242, 2}, 2, start + 5000, start + 6000);
    forward->flow.id = backward->flow.id = 31;
    forward->flow.type = backward->flow.type = libkineto::kLinkFwdBwd;
    forward->flow.start = 1;
    shim::activity_t* const dangling = wrapper.addCPUActivity("no partner", ActivityType::CPU_OP, {4242, 3}, 3, start, start + 1000);
    dangling->flow.id = 32;
    dangling->flow.type = libkineto::kLinkFwdBwd;
  });
  std::vector<parsed::Json> starts;
  std::vector<parsed::Json> ends;
  for (const parsed::Json& each : trace["traceEvents"].items) {
    if (each["ph"].text == "s") starts.push_back(each);
    if (each["ph"].text == "f") ends.push_back(each);
  }
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u) << "no end without a start";
  EXPECT_EQ(starts[0]["cat"].text, "fwdbwd");
  EXPECT_EQ(ends[0]["cat"].text, "fwdbwd");
  EXPECT_EQ(starts[0]["id"].text, ends[0]["id"].text);
  EXPECT_EQ(starts[0]["tid"].number, 1);
  EXPECT_EQ(ends[0]["tid"].number, 2);
  EXPECT_EQ(startOf(trace, starts[0]), start);
  EXPECT_EQ(startOf(trace, ends[0]), start + 5000);
}

TEST(HandedOver, ALinkedActivityIsNamedByItsId) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    shim::activity_t* const launch = wrapper.addCPUActivity("launch", ActivityType::CUDA_RUNTIME, {4242, 1}, 55, start, start + 1000);
    wrapper.addCPUActivity("my kernel", ActivityType::CONCURRENT_KERNEL, {0, 7}, 56, start + 2000, start + 3000)->linked = launch;
  });
  EXPECT_EQ(parsed::traceEvents(trace, "my kernel", "X").at(0)["args"]["External id"].number, 55);
}

TEST(HandedOver, MetadataWithAKeyOfOursComesOnce) {
  const int64_t start = wallNs();
  const Names keys{"External id", "Record function id", "Ev Idx", "Sequence number", "Input Dims", "finished"};
  // The reader refuses keys that come twice.
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    shim::activity_t* const activity = wrapper.addCPUActivity("op", ActivityType::CPU_OP, kElsewhere, 9, start, start + 1000);
    for (const std::string& key : keys) shim::addMetadata(activity, key, "12");
  });
  const parsed::Json op = parsed::traceEvents(trace, "op", "X").at(0);
  for (const std::string& key : keys) EXPECT_EQ(op["args"][key].number, 12) << key;
}

TEST(HandedOver, MetadataThatIsNotJsonDoesNotSpoilTheFile) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    shim::addMetadata(wrapper.addCPUActivity("bad", ActivityType::CPU_OP, kElsewhere, 1, start, start + 1), "key", "not json");
    shim::addMetadata(wrapper.addCPUActivity("good", ActivityType::CPU_OP, kElsewhere, 2, start + 10, start + 20), "key", "1");
  });
  EXPECT_EQ(parsed::traceEvents(trace, "bad", "X").size(), 1u);
  EXPECT_EQ(parsed::traceEvents(trace, "good", "X").at(0)["args"]["key"].number, 1);
}

TEST(HandedOver, ActivitiesThatCrossAreAllThere) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    wrapper.addCPUActivity("a", ActivityType::CPU_OP, kElsewhere, 1, start, start + 1000);
    wrapper.addCPUActivity("crosses a", ActivityType::CPU_OP, kElsewhere, 2, start + 500, start + 1500);
    wrapper.addCPUActivity("inside a", ActivityType::CPU_OP, kElsewhere, 3, start + 100, start + 200);
  });
  const parsed::Json a = parsed::traceEvents(trace, "a", "X").at(0);
  EXPECT_NE(parsed::traceEvents(trace, "crosses a", "X").at(0)["tid"].number, a["tid"].number) << "rows hold what nests";
  EXPECT_EQ(parsed::traceEvents(trace, "inside a", "X").at(0)["tid"].number, a["tid"].number);
}

TEST(HandedOver, WithNothingRunningIsWarnedAbout) {
  const Warnings warnings;
  shim::TraceWrapper wrapper(wallNs(), "nobody listens");
  wrapper.addCPUActivity("a", ActivityType::CPU_OP, kElsewhere, 1, 1, 2);
  wrapper.addCPUActivity("b", ActivityType::CPU_OP, kElsewhere, 1, 1, 2);
  wrapper.transferCpuTrace(wallNs());
  ASSERT_EQ(warnings.count(), 1u);
  expectWords(warnings.all()[0], {"no trace is running", "2 activities are dropped"});
}

TEST(HandedOver, OnceIsOver) {
  const Warnings warnings;
  shim::TraceWrapper wrapper(wallNs(), "once");
  wrapper.transferCpuTrace(wallNs());
  EXPECT_FALSE(static_cast<bool>(wrapper));
  expectWords(refusal([&] { wrapper.transferCpuTrace(wallNs()); }), {"handed over already", "new TraceWrapper"});
  expectWords(refusal([&] { wrapper.addCPUActivity("late", ActivityType::CPU_OP, kElsewhere, 1, 1, 2); }),
              {"non-existent trace", "new TraceWrapper"});
}

TEST(HandedOver, AMovedWrapperIsWhatItWas) {
  const int64_t start = wallNs();
  const parsed::Json trace = handedOver([&](shim::TraceWrapper& wrapper) {
    shim::TraceWrapper other(wallNs(), "other");
    other.addCPUActivity("moved", ActivityType::CPU_OP, kElsewhere, 1, start, start + 1);
    shim::TraceWrapper target(std::move(other));
    EXPECT_FALSE(static_cast<bool>(other));
    target.transferCpuTrace(wallNs());
    EXPECT_TRUE(static_cast<bool>(wrapper));
  });
  EXPECT_EQ(parsed::traceEvents(trace, "moved", "X").size(), 1u);
}

}  // namespace
}  // namespace xsigma::profiler
