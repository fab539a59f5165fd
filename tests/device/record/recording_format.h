// The file in which CUPTI's records are kept: a magic, then sections of (tag, reserved, bytes) and their payload, all little-endian.
#pragma once

#include <cstdint>

namespace xsigma::recording {

inline constexpr char kMagic[8] = {'X', 'S', 'C', 'U', 'P', 'T', 'I', '1'};

struct SectionHead {
  uint32_t tag;
  uint32_t reserved;
  uint64_t bytes;
};

constexpr uint32_t tagOf(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) | uint32_t(uint8_t(name[1])) << 8 | uint32_t(uint8_t(name[2])) << 16 | uint32_t(uint8_t(name[3])) << 24;
}

// Part 0 of a recording has a record per node of a graph, part 1 one per launch of a graph.
inline constexpr uint32_t kVersionTag = tagOf("VERS");  // uint32_t: cuptiGetVersion
inline constexpr uint32_t kBufferTag =
    tagOf("BUFF");  // BufferHead, uint32_t offset[records], the bytes; once per buffer, in order of completion
inline constexpr uint32_t kStringsTag = tagOf("STRS");  // uint32_t count, then (uint64_t pointer, uint32_t length, the characters) each
inline constexpr uint32_t kCallsTag =
    tagOf("CBNM");  // uint32_t count, then (uint32_t domain, uint32_t cbid, uint32_t length, the characters) each
inline constexpr uint32_t kNodesTag = tagOf("NODE");     // NodeEvent[]
inline constexpr uint32_t kClocksTag = tagOf("CLKS");    // ClockReading[]: begin and end of each part
inline constexpr uint32_t kDevicesTag = tagOf("PROP");   // JSON
inline constexpr uint32_t kThreadsTag = tagOf("THRD");   // JSON: the process and its threads
inline constexpr uint32_t kExpectedTag = tagOf("EXPT");  // JSON: what the program counted while it ran

struct BufferHead {
  uint32_t part;
  uint32_t records;
  uint64_t bytes;
};

struct NodeEvent {
  uint32_t part;
  uint32_t cloned;  // 0: created
  uint64_t node;
  uint64_t origin;
  uint64_t ticks;
  uint64_t thread;
};

struct ClockReading {
  uint32_t part;
  uint32_t at_end;
  uint64_t ticks;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
};

}  // namespace xsigma::recording
