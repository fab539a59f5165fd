// Device records: what is put is what is read, and what is damaged is no record.
#include "capture/device_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "capture/record_walk.h"
#include "hand_device.h"

namespace xsigma::profiler::test {
namespace {

using capture::DeviceRecord;
using capture::DeviceValues;
using capture::RawRecord;
using libkineto::ActivityType;

// The words of the device records that `write` puts.
template <typename Write>
std::vector<std::vector<uint32_t>> recordsOf(Write write) {
  HandCapture capture;
  HandDevice device(capture);
  write(device);
  const Capture done = capture.finish(1000);
  const Capture::Source& source = *done.source();
  std::vector<std::vector<uint32_t>> records;
  capture::RecordWalk walk;
  for (const capture::Segment& segment : source.contents().segments) {
    walk.open(source, segment);
    for (RawRecord record; walk.next(record);) {
      if (record.code() == capture::Code::device) records.emplace_back(record.words, record.words + record.size);
    }
  }
  return records;
}

constexpr uint64_t kTick = kHandStart + 100;
RawRecord raw(const std::vector<uint32_t>& words) { return {words.data(), static_cast<uint32_t>(words.size()), kTick}; }

std::vector<int64_t> allOf(std::string_view packed) {
  std::vector<int64_t> all;
  for (DeviceValues values(packed); !values.atEnd();) all.push_back(values.next());
  return all;
}

void expectSame(const DeviceActivity& read, const DeviceActivity& put) {
  EXPECT_EQ(read.role, put.role);
  EXPECT_EQ(read.clock, put.clock);
  EXPECT_EQ(read.failed, put.failed);
  EXPECT_EQ(read.type, put.type);
  EXPECT_EQ(read.start, put.start);
  EXPECT_EQ(read.end, put.end);
  EXPECT_EQ(read.process_id, put.process_id);
  EXPECT_EQ(read.thread_id, put.thread_id);
  EXPECT_EQ(read.correlation, put.correlation);
  EXPECT_EQ(read.node, put.node);
  EXPECT_EQ(read.origin, put.origin);
  EXPECT_EQ(read.kind, put.kind);
  EXPECT_EQ(read.name, put.name);
  EXPECT_EQ(read.form, put.form);
}

constexpr int64_t kValues[] = {0, 1, -1, 63, -64, 64, INT64_MAX, INT64_MIN, int64_t{1} << 62};

DeviceActivity extreme(DeviceRole role, uint8_t clock, bool large) {
  DeviceActivity activity;
  activity.role = role;
  activity.clock = clock;
  activity.failed = large;
  activity.type = large ? static_cast<ActivityType>(static_cast<int>(ActivityType::ENUM_COUNT) - 1) : static_cast<ActivityType>(0);
  activity.start = large ? UINT64_MAX - 5 : 0;
  activity.end = large ? UINT64_MAX : 0;
  activity.process_id = large ? INT64_MIN : 0;
  activity.thread_id = large ? INT64_MAX : -1;
  activity.correlation = large ? UINT64_MAX : 0;
  activity.node = large ? UINT64_MAX : 0;
  activity.origin = large ? UINT64_MAX - 1 : 0;
  activity.kind = large ? UINT32_MAX : 0;
  activity.name = large ? UINT32_MAX : 0;
  activity.form = large ? UINT32_MAX : 0;
  activity.values = kValues;
  activity.value_count = large ? std::size(kValues) : 0;
  return activity;
}

TEST(DeviceCodec, EveryRoleAndEveryExtremeComesBackAsItWas) {
  for (uint8_t role = 0; role <= static_cast<uint8_t>(DeviceRole::pending); ++role) {
    for (const uint8_t clock : {uint8_t{0}, uint8_t{1}, uint8_t{255}}) {
      for (const bool large : {false, true}) {
        SCOPED_TRACE(testing::Message() << "role " << int{role} << ", clock " << int{clock} << (large ? ", large" : ", small"));
        const DeviceActivity put = extreme(static_cast<DeviceRole>(role), clock, large);
        const auto records = recordsOf([&](HandDevice& device) { device.putAsItIs(put, 100); });
        ASSERT_EQ(records.size(), 1u);
        DeviceRecord read;
        ASSERT_TRUE(capture::decodeDevice(raw(records[0]), read));
        expectSame(read.activity, put);
        EXPECT_EQ(allOf(read.values), std::vector<int64_t>(put.values, put.values + put.value_count));
      }
    }
  }
}

TEST(DeviceCodec, WhatEndsBeforeItStartsTakesNoTime) {
  DeviceActivity put = extreme(DeviceRole::work, 1, false);
  put.start = 500;
  put.end = 400;
  const auto records = recordsOf([&](HandDevice& device) { device.putAsItIs(put, 100); });
  DeviceRecord read;
  ASSERT_TRUE(capture::decodeDevice(raw(records.at(0)), read));
  EXPECT_EQ(read.activity.start, 500u);
  EXPECT_EQ(read.activity.end, 500u);
}

TEST(DeviceCodec, ValuesBeyondTwoHundredFiftySixAreCut) {
  const std::vector<int64_t> many(300, INT64_MIN);
  DeviceActivity put;
  put.values = many.data();
  put.value_count = static_cast<uint32_t>(many.size());
  const auto records = recordsOf([&](HandDevice& device) { device.putAsItIs(put, 100); });
  DeviceRecord read;
  ASSERT_TRUE(capture::decodeDevice(raw(records.at(0)), read));
  EXPECT_EQ(allOf(read.values), std::vector<int64_t>(256, INT64_MIN));
}

constexpr size_t kBytesWord = 5;  // head, tick, what it is, name, form, bytes

TEST(DeviceCodec, CutAfterAnyByteItIsNoRecordOrLosesValuesAtItsEnd) {
  const DeviceActivity put = extreme(DeviceRole::call, 0, true);
  const std::vector<uint32_t> whole = recordsOf([&](HandDevice& device) { device.putAsItIs(put, 100); }).at(0);
  DeviceRecord read;
  ASSERT_TRUE(capture::decodeDevice(raw(whole), read));
  const uint32_t bytes = whole.at(kBytesWord);
  const size_t fixed = bytes - read.values.size();
  for (uint32_t left = 0; left < bytes; ++left) {
    SCOPED_TRACE(testing::Message() << left << " of " << bytes << " bytes");
    std::vector<uint32_t> cut = whole;
    cut[kBytesWord] = left;
    cut.resize(kBytesWord + 1 + (left + 3) / 4);
    DeviceRecord partly;
    ASSERT_EQ(capture::decodeDevice(raw(cut), partly), left >= fixed);
    if (left < fixed) continue;
    expectSame(partly.activity, put);
    DeviceValues values(partly.values);
    bool over = false;
    for (const int64_t value : kValues) {
      const int64_t next = values.next();
      EXPECT_TRUE(over ? next == 0 : next == value || next == 0);
      over |= next != value;
    }
    EXPECT_TRUE(values.atEnd());
  }
  for (size_t words = 2; words < whole.size(); ++words) {
    DeviceRecord partly;
    EXPECT_FALSE(capture::decodeDevice(raw({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(words)}), partly)) << words << " words";
  }
}

TEST(DeviceCodec, RolesAndTypesThatDoNotExistAreNoRecords) {
  const std::vector<uint32_t> sound = recordsOf([](HandDevice& device) { device.putAsItIs(DeviceActivity(), 100); }).at(0);
  DeviceRecord read;
  ASSERT_TRUE(capture::decodeDevice(raw(sound), read));
  std::vector<uint32_t> role = sound;
  role[2] = (role[2] & ~0xFFu) | (static_cast<uint32_t>(DeviceRole::pending) + 1);
  EXPECT_FALSE(capture::decodeDevice(raw(role), read));
  std::vector<uint32_t> type = sound;
  type[2] = (type[2] & ~0xFF0000u) | static_cast<uint32_t>(ActivityType::ENUM_COUNT) << 16;
  EXPECT_FALSE(capture::decodeDevice(raw(type), read));
}

TEST(DeviceCodec, WildBytesAreARecordThatMakesSenseOrNone) {
  std::mt19937 random(20250301);
  size_t records = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::vector<uint32_t> words(2 + random() % 24);
    for (uint32_t& word : words) word = random() % 3 == 0 ? random() & 0x7F7F7F7F : random();
    if (words.size() > 2)
      words[2] = (words[2] & 0x0100FF00) | random() % 10 | random() % (static_cast<uint32_t>(ActivityType::ENUM_COUNT) + 2) << 16;
    if (words.size() > kBytesWord && random() % 8 != 0) words[kBytesWord] = static_cast<uint32_t>(words.size() - kBytesWord - 1) * 4;
    DeviceRecord read;
    if (!capture::decodeDevice(raw(words), read)) continue;
    ++records;
    ASSERT_LE(read.activity.role, DeviceRole::pending);
    ASSERT_LT(read.activity.type, ActivityType::ENUM_COUNT);
    ASSERT_LE(read.values.size(), words.size() * 4);
    ASSERT_LE(allOf(read.values).size(), read.values.size());
  }
  EXPECT_GT(records, 1000u);
}

}  // namespace
}  // namespace xsigma::profiler::test
