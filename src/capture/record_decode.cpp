#include "capture/record_decode.h"

#include <cstring>

#include "capture/mark_codec.h"
#include "capture/op_codec.h"

namespace xsigma::profiler::capture {
namespace {

constexpr std::string_view kUnknownName = "<name not in the capture>";

class Decoder {
 public:
  Decoder(const Capture::Source::Contents& contents, const Segment& segment) : contents_(contents), segment_(segment), next_id_(segment.id_base) {}

  // False if the kind is unknown to this version.
  bool decode(const uint32_t* words, uint32_t size, uint64_t offset) {
    const Code code = headCode(words[0]);
    const bool plain = code == Code::begin || code == Code::end;
    if (!plain || !plain_) record_ = CaptureRecord();
    plain_ = plain;
    record_.thread = segment_.thread;
    record_.offset = offset;
    record_.ticks = segment_.base_ticks + words[1];
    payload_ = words + 2;
    payload_words_ = size - 2;
    switch (code) {
      case Code::begin:
        record_.kind = RecordKind::scope_begin;
        record_.id = next_id_++;
        record_.begin_ticks = 0;
        return site(headSite(words[0]));
      case Code::end:
        record_.kind = RecordKind::scope_end;
        record_.id = 0;
        record_.begin_ticks = record_.ticks - words[2];
        return site(headSite(words[0]));
      case Code::end_long:
        record_.kind = RecordKind::scope_end;
        record_.begin_ticks = record_.ticks - wide(0);
        return site(headSite(words[0]));
      case Code::async_begin: record_.kind = RecordKind::async_begin; return async();
      case Code::async_end: record_.kind = RecordKind::async_end; return async();
      case Code::instant: record_.kind = RecordKind::instant; return site(word(0));
      case Code::counter: {
        record_.kind = RecordKind::counter;
        const uint64_t bits = wide(1);
        std::memcpy(&record_.value, &bits, sizeof bits);
        return site(word(0));
      }
      case Code::memory: record_.kind = RecordKind::memory; return memory();
      case Code::out_of_memory: record_.kind = RecordKind::out_of_memory; return memory();
      case Code::given_event: record_.kind = RecordKind::given_event; return given();
      case Code::external_push: record_.kind = RecordKind::external_id_push; return external();
      case Code::external_pop: record_.kind = RecordKind::external_id_pop; return external();
      case Code::metadata:
        record_.kind = RecordKind::metadata;
        record_.text = text(1);
        return site(word(0));
      case Code::op_info: return opInfo();
      case Code::inputs: return inputs();
      default: return false;
    }
  }

  const CaptureRecord& record() const { return record_; }

 private:
  uint32_t word(uint32_t index) const { return index < payload_words_ ? payload_[index] : 0; }
  uint64_t wide(uint32_t index) const { return word(index) | static_cast<uint64_t>(word(index + 1)) << 32; }
  // [bytes][the bytes …]
  std::string_view text(uint32_t index) const {
    const uint32_t bytes = word(index);
    if (index + 1 > payload_words_ || bytes > (payload_words_ - index - 1) * 4) return {};
    return {reinterpret_cast<const char*>(payload_ + index + 1), bytes};
  }
  bool site(uint32_t id) {
    const Tables::ResolvedSite* const found = contents_.tables.site(id);
    if (found == nullptr) {
      record_.name = kUnknownName;
      record_.file = {};
      record_.line = 0;
      record_.scope = RecordScope::FUNCTION;
      return true;
    }
    record_.name = found->name;
    record_.file = found->file;
    record_.line = found->line;
    record_.scope = found->scope;
    return true;
  }
  bool async() {
    record_.id = wide(1);
    record_.begin_ticks = wide(3);
    record_.async = true;
    return site(word(0));
  }
  bool memory() {
    record_.address = wide(0);
    record_.bytes = static_cast<int64_t>(wide(2));
    record_.total_allocated = wide(4);
    record_.total_reserved = wide(6);
    record_.device = {static_cast<DeviceType>(word(8)), static_cast<int>(word(9))};
    return true;
  }
  bool external() {
    record_.id = wide(0);
    record_.domain = static_cast<uint8_t>(word(2));
    return true;
  }
  bool opInfo() {
    record_.kind = RecordKind::op_info;
    record_.sequence_number = static_cast<int64_t>(wide(0));
    record_.debug_handle = static_cast<int64_t>(wide(2));
    record_.id = wide(4);
    record_.forward_thread = word(6);
    record_.async = (word(7) & 1) != 0;
    return true;
  }
  bool inputs() {
    record_.kind = RecordKind::inputs;
    DecodedInputs decoded;
    record_.inputs_cut = !decodeInputs(payload_, payload_words_, decoded) || decoded.cut;
    record_.role = decoded.role;
    record_.id = decoded.id;
    record_.inputs = std::move(decoded.values);
    record_.keys = std::move(decoded.keys);
    return true;
  }
  bool given() {
    GivenEvent& event = record_.given;
    event.start_ns = static_cast<int64_t>(wide(kGivenStart));
    event.duration_ns = static_cast<int64_t>(wide(kGivenDuration));
    event.process_id = static_cast<int64_t>(wide(kGivenProcess));
    event.thread_id = static_cast<int64_t>(wide(kGivenThread));
    event.correlation_id = wide(kGivenCorrelation);
    event.linked_correlation_id = wide(kGivenLinked);
    event.activity_type = static_cast<int32_t>(word(kGivenType));
    event.flow_id = word(kGivenFlow);
    event.flow_type = static_cast<uint8_t>(word(kGivenFlowType));
    event.flow_start = (word(kGivenFlowType) >> 8 & 1) != 0;
    event.metadata_json = text(kGivenMetadata);
    site(word(kGivenSite));
    event.name = record_.name;
    return true;
  }

  const Capture::Source::Contents& contents_;
  const Segment& segment_;
  uint64_t next_id_;
  CaptureRecord record_;
  bool plain_ = false;  // record_ has no more than a begin or an end sets
  const uint32_t* payload_ = nullptr;
  uint32_t payload_words_ = 0;
};

}  // namespace

void decodeSegment(const Capture::Source& source, const Segment& segment, const std::function<void(const CaptureRecord&)>& visit) {
  std::vector<uint32_t> words;
  if (!readBlockWords(source.image(), segment.block_offset, segment.generation, segment.first_word, segment.end_word, words)) return;
  Decoder decoder(source.contents(), segment);
  uint32_t at = 0;
  while (at < words.size()) {
    const uint32_t size = recordWords(&words[at], static_cast<uint32_t>(words.size()) - at);
    if (size == 0) return;
    if (decoder.decode(&words[at], size, segment.block_offset + (segment.first_word + at) * 4)) visit(decoder.record());
    at += size;
  }
}

}  // namespace xsigma::profiler::capture
