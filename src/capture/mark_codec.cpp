#include "capture/mark_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/sink.h"

namespace xsigma::profiler::capture {
namespace {

uint32_t low(uint64_t value) noexcept { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) noexcept { return static_cast<uint32_t>(value >> 32); }

// [head][ticks − base][the words …], then, if a text is given, [bytes][the bytes …].
template <size_t N>
void put(Writer& writer, Code code, uint64_t ticks, const std::array<uint32_t, N>& payload, const std::string_view* text = nullptr) noexcept {
  const uint32_t fixed = 2 + N + (text != nullptr ? 1 : 0);
  const size_t most_text = (writer.sink()->maxRecordWords() - fixed) * 4;
  const size_t text_bytes = text != nullptr ? std::min(text->size(), most_text) : 0;
  const auto words = static_cast<uint32_t>(fixed + (text_bytes + 3) / 4);
  if (!writer.ensure(words, ticks)) return writer.countExtraDrop();
  uint32_t* const at = writer.next();
  at[0] = sizedHead(code, words);
  at[1] = writer.delta(ticks);
  std::copy(payload.begin(), payload.end(), at + 2);
  if (text != nullptr) {
    at[2 + N] = static_cast<uint32_t>(text_bytes);
  }
  if (text_bytes != 0) {
    at[words - 1] = 0;
    std::memcpy(at + fixed, text->data(), text_bytes);
  }
  writer.commit(words, 0);
}

}  // namespace

void putInstant(Writer& writer, uint64_t ticks, uint32_t site) noexcept { put<1>(writer, Code::instant, ticks, {site}); }

void putCounter(Writer& writer, uint64_t ticks, uint32_t site, double value) noexcept {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  put<3>(writer, Code::counter, ticks, {site, low(bits), high(bits)});
}

void putMetadata(Writer& writer, uint64_t ticks, uint32_t key_site, std::string_view value) noexcept {
  put<1>(writer, Code::metadata, ticks, {key_site}, &value);
}

void putMemory(Writer& writer, uint64_t ticks, Code code, const void* address, int64_t bytes, uint64_t total_allocated, uint64_t total_reserved,
               Device device) noexcept {
  const auto place = reinterpret_cast<uint64_t>(address);
  const auto size = static_cast<uint64_t>(bytes);
  put<10>(writer, code, ticks,
          {low(place), high(place), low(size), high(size), low(total_allocated), high(total_allocated), low(total_reserved), high(total_reserved),
           static_cast<uint32_t>(device.type), static_cast<uint32_t>(device.index)});
}

void putExternalId(Writer& writer, uint64_t ticks, Code code, uint64_t id, uint8_t domain) noexcept {
  put<3>(writer, code, ticks, {low(id), high(id), domain});
}

void putAsyncBegin(Writer& writer, uint64_t ticks, uint32_t site, uint64_t id) noexcept {
  put<5>(writer, Code::async_begin, ticks, {site, low(id), high(id), 0, 0});
}

void putAsyncEnd(Writer& writer, uint64_t ticks, uint32_t site, uint64_t id, uint64_t begin_ticks) noexcept {
  put<5>(writer, Code::async_end, ticks, {site, low(id), high(id), low(begin_ticks), high(begin_ticks)});
}

void putGiven(Writer& writer, uint64_t ticks, uint32_t site, const GivenEvent& event) noexcept {
  std::array<uint32_t, kGivenMetadata> words{};
  const auto wide = [&](GivenWord at, uint64_t value) {
    words[at] = low(value);
    words[at + 1] = high(value);
  };
  words[kGivenSite] = site;
  words[kGivenType] = static_cast<uint32_t>(event.activity_type);
  wide(kGivenStart, static_cast<uint64_t>(event.start_ns));
  wide(kGivenDuration, static_cast<uint64_t>(event.duration_ns));
  wide(kGivenProcess, static_cast<uint64_t>(event.process_id));
  wide(kGivenThread, static_cast<uint64_t>(event.thread_id));
  wide(kGivenCorrelation, event.correlation_id);
  wide(kGivenLinked, event.linked_correlation_id);
  words[kGivenFlow] = event.flow_id;
  words[kGivenFlowType] = event.flow_type | static_cast<uint32_t>(event.flow_start) << 8;
  put(writer, Code::given_event, ticks, words, &event.metadata_json);
}

}  // namespace xsigma::profiler::capture
