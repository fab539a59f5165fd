// Records beside scopes: instants, counters, memory, metadata, external ids, async ranges, given events.
#pragma once

#include <cstdint>
#include <string_view>

#include "capture/writer.h"
#include "xsigma/profiler/device.h"
#include "xsigma/profiler/record.h"

namespace xsigma::profiler::capture {

// Words of a given event's payload.
enum GivenWord : uint32_t {
  kGivenSite = 0,
  kGivenType = 1,
  kGivenStart = 2,
  kGivenDuration = 4,
  kGivenProcess = 6,
  kGivenThread = 8,
  kGivenCorrelation = 10,
  kGivenLinked = 12,
  kGivenFlow = 14,
  kGivenFlowType = 15,
  kGivenMetadata = 16,
};

// Each writes one record, or counts it as a dropped extra. Texts that do not fit a record are cut.
void putInstant(Writer& writer, uint64_t ticks, uint32_t site) noexcept;
void putCounter(Writer& writer, uint64_t ticks, uint32_t site, double value) noexcept;
void putMetadata(Writer& writer, uint64_t ticks, uint32_t key_site, std::string_view value) noexcept;
void putMemory(Writer& writer, uint64_t ticks, Code code, const void* address, int64_t bytes, uint64_t total_allocated, uint64_t total_reserved,
               Device device) noexcept;
void putExternalId(Writer& writer, uint64_t ticks, Code code, uint64_t id, uint8_t domain) noexcept;
void putAsyncBegin(Writer& writer, uint64_t ticks, uint32_t site, uint64_t id) noexcept;
// begin_ticks is 0 where the two ends are joined by the id alone.
void putAsyncEnd(Writer& writer, uint64_t ticks, uint32_t site, uint64_t id, uint64_t begin_ticks) noexcept;
void putGiven(Writer& writer, uint64_t ticks, uint32_t site, const GivenEvent& event) noexcept;

}  // namespace xsigma::profiler::capture
