// libkineto::GenericTraceActivity: an activity that a client fills in by hand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ITraceActivity.h"

namespace libkineto {

constexpr unsigned int kLinkFwdBwd = 1;
constexpr unsigned int kLinkAsyncCpuGpu = 2;

class GenericTraceActivity : public ITraceActivity {
 public:
  struct Flow {
    uint32_t id : 32;
    uint32_t type : 4;
    uint32_t start : 1;
  };

  GenericTraceActivity() : activityType(ActivityType::ENUM_COUNT), traceSpan_(nullptr) {}
  // The span is borrowed: it must outlive the activity.
  GenericTraceActivity(const TraceSpan& span, ActivityType type, const std::string& name) : activityType(type), activityName(name), traceSpan_(&span) {}

  int64_t deviceId() const override { return device; }
  int64_t resourceId() const override { return resource; }
  int32_t getThreadId() const override { return threadId; }
  int64_t timestamp() const override { return startTime; }
  int64_t duration() const override { return endTime - startTime; }
  int64_t correlationId() const override { return id; }
  int flowType() const override { return static_cast<int>(flow.type); }
  int64_t flowId() const override { return flow.id; }
  bool flowStart() const override { return flow.start != 0; }
  ActivityType type() const override { return activityType; }
  const std::string name() const override { return activityName; }
  const ITraceActivity* linkedActivity() const override { return linked; }
  const TraceSpan* traceSpan() const override { return traceSpan_; }

  void setDevice(int32_t value) { device = value; }
  // The value is JSON, taken as it is: quote texts, or use addMetadataQuoted. The first write of a key counts.
  void addMetadata(const std::string& key, const std::string& value) { put(key, value, value); }
  void addMetadataQuoted(const std::string& key, const std::string& value) { put(key, quoted(value), value); }
  // A text without its quotes; "" if there is none.
  const std::string getMetadataValue(const std::string& key) const override {
    for (const Metadata& each : metadata_) {
      if (each.key == key) return each.text;
    }
    return "";
  }
  const std::string metadataJson() const override {
    std::string members;
    for (const Metadata& each : metadata_) members += (members.empty() ? "" : ", ") + quoted(each.key) + ": " + each.json;
    return members;
  }

  int64_t startTime{0};
  int64_t endTime{0};
  int32_t id{0};
  int32_t device{0};
  int64_t resource{0};
  int32_t threadId{0};
  ActivityType activityType;
  std::string activityName;
  Flow flow{0, 0, 0};
  const ITraceActivity* linked{nullptr};

 private:
  struct Metadata {
    std::string key;
    std::string json;
    std::string text;
  };

  void put(const std::string& key, std::string json, std::string text) {
    for (const Metadata& each : metadata_) {
      if (each.key == key) return;
    }
    metadata_.push_back({key, std::move(json), std::move(text)});
  }
  static std::string quoted(const std::string& text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (byte < 0x20) {
        out += "\\u00";
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      } else {
        out += c;
      }
    }
    return out + '"';
  }

  const TraceSpan* traceSpan_;
  std::vector<Metadata> metadata_;
};

}  // namespace libkineto
