// The layout of a capture, in memory and on disk: docs/formats.md draws it.
//
//   page 0          FileHeader | StopRecord | header counters | clock pairs
//   page 1 …        blocks of 1 to 16 pages: a BlockHeader, then records; data blocks and table blocks mixed, unused pages are zero
//
// Everything is little-endian. Records are 4-byte aligned in data blocks and 8-byte aligned in table blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "xsigma/profiler/ledger.h"

namespace xsigma::profiler::capture {

inline constexpr uint64_t kFileMagic = 0x314D474953585F90;  // "\x90_XSIGM1"
inline constexpr uint16_t kVersionMajor = 1;
inline constexpr uint16_t kVersionMinor = 2;
inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kMinChunkBytes = 4096;
inline constexpr size_t kMaxChunkBytes = 65536;

enum HeaderFlags : uint32_t {
  kOrderedEnd = 1,
  kCounterIsClock = 2,
  kRecordsInputs = 4,
};

// Written once, before the file has its name.
struct FileHeader {
  uint64_t magic;
  uint16_t version_major;
  uint16_t version_minor;
  uint32_t flags;
  uint64_t byte_cap;
  uint32_t chunk_bytes;
  uint8_t policy;
  uint8_t reserved[3];
  int64_t process_id;
  uint64_t start_ticks;
  int64_t start_monotonic_ns;
  int64_t start_realtime_ns;
  uint32_t ticks_per_ms;  // measured roughly at start; clock pairs say it better
  uint32_t crc;           // of everything before it
};

// All zero until the recording is stopped.
struct StopRecord {
  uint64_t ticks;
  int64_t monotonic_ns;
  uint64_t bytes_used;
  uint32_t zero;
  uint32_t crc;
};

// Checked counters (base/checksum.h) of what belongs to no thread's entry.
enum HeaderCounter : size_t {
  kHeaderExtrasDropped,
  kHeaderNamesDropped,
  kHeaderThreadsDropped,
  kHeaderDrops,  // one per cause from here on
  kHeaderCounters = kHeaderDrops + kLossCauses,
};

struct ClockEntry {
  uint64_t ticks;
  int64_t monotonic_ns;
  uint32_t used;
  uint32_t crc;
};
inline constexpr size_t kClockEntries = 150;

struct HeaderPage {
  FileHeader file;
  StopRecord stop;
  std::atomic<uint64_t> counters[kHeaderCounters];
  ClockEntry clock[kClockEntries];
};
static_assert(sizeof(HeaderPage) <= kPageBytes);

enum class BlockType : uint16_t { data = 0x5DA7, table = 0x7AB1 };

inline constexpr uint32_t kBlockMagic = 0x4B4C4258;  // "XBLK"

// A cursor packs how far a block is written and how many scopes began in it, with its own complement: one release store publishes a record.
//   bits 0–15 offset in 4-byte words, bits 16–31 scopes begun, bits 32–63 the complement of bits 0–31
constexpr uint64_t packCursor(uint32_t word) noexcept { return word | (static_cast<uint64_t>(~word) << 32); }
constexpr bool isCursor(uint64_t packed) noexcept { return static_cast<uint32_t>(packed >> 32) == ~static_cast<uint32_t>(packed); }
constexpr uint16_t cursorWords(uint64_t cursor) noexcept { return static_cast<uint16_t>(cursor); }
constexpr uint32_t cursorBegins(uint64_t cursor) noexcept { return static_cast<uint32_t>(cursor) >> 16; }
constexpr uint32_t cursorStep(uint32_t words, uint32_t begins) noexcept { return words + (begins << 16); }
// What to add to a packed cursor: the low half goes up as the complement goes down, and neither ever carries into the other.
constexpr uint64_t packedStep(uint32_t words, uint32_t begins) noexcept {
  return cursorStep(words, begins) - (static_cast<uint64_t>(cursorStep(words, begins)) << 32);
}

struct BlockHeader {
  uint32_t magic;
  BlockType type;
  uint16_t pages;
  std::atomic<uint32_t> generation;  // 0 while the block is being taken over; a reader that sees it change reads again
  uint32_t crc;                      // of magic, type, pages, generation and the block's page number
  std::atomic<uint64_t> cursor;
  std::atomic<uint64_t> frozen;  // the cursor when the recording stopped; 0 while it runs. What lies beyond came late
};
static_assert(sizeof(BlockHeader) == 32);
inline constexpr uint32_t kBlockHeaderWords = sizeof(BlockHeader) / 4;

// The first byte of a record. Seven bits of even parity: no flipped bit, nor all eight, turns one code into another.
enum class Code : uint8_t {
  none = 0,
  begin = 0x03,
  end = 0x05,
  end_long = 0x06,
  segment = 0x09,
  async_begin = 0x0A,
  async_end = 0x0C,
  instant = 0x0F,
  counter = 0x11,
  memory = 0x12,
  out_of_memory = 0x14,
  given_event = 0x17,
  external_push = 0x18,
  external_pop = 0x1B,
  metadata = 0x1D,
  op_info = 0x1E,
  inputs = 0x21,
  stack = 0x22,
  perf = 0x24,
  device = 0x27,        // what a backend saw: device_codec.h
  device_clock = 0x28,  // the same moment in two clocks
  // in table blocks
  string = 0x41,
  site = 0x42,
  thread = 0x44,
  thread_name = 0x47,
  thread_drops = 0x48,
  property = 0x4B,
  stack_frames = 0x4D,
  module = 0x4E,
  device_row = 0x50,
  device_losses = 0x53,
};

// Fixed records:      begin    [code | site << 8][ticks − base]
//                     end      [code | site << 8][ticks − base][duration]
//                     end_long [code | site << 8][ticks − base][duration, 64 bits]
// All others carry their length: [code | words << 8 | ~words << 20] — 12 bits each, the head included — then [ticks − base] in data blocks,
// or [crc] in table blocks, where the unit is 8 bytes.
inline constexpr uint32_t kBeginWords = 2;
inline constexpr uint32_t kEndWords = 3;
inline constexpr uint32_t kEndLongWords = 4;
inline constexpr uint32_t kMaxRecordUnits = 0xFFF;
inline constexpr uint32_t kMaxSites = 1u << 24;

constexpr uint32_t siteHead(Code code, uint32_t site) noexcept { return static_cast<uint32_t>(code) | site << 8; }
constexpr uint32_t sizedHead(Code code, uint32_t units) noexcept {
  return static_cast<uint32_t>(code) | units << 8 | (~units & 0xFFF) << 20;
}
constexpr Code headCode(uint32_t head) noexcept { return static_cast<Code>(head & 0xFF); }
constexpr uint32_t headSite(uint32_t head) noexcept { return head >> 8; }
constexpr uint32_t headUnits(uint32_t head) noexcept { return head >> 8 & 0xFFF; }
constexpr bool headUnitsSound(uint32_t head) noexcept { return (head >> 20) == (~(head >> 8) & 0xFFF); }

// Opens a thread's stretch of a data block: whose it is, where its ticks count from, and how many scopes went before.
struct SegmentRecord {
  uint32_t head;
  uint32_t thread;
  uint32_t number;       // 0, 1, 2 … of this thread: a gap is a loss
  uint32_t base_low;     // tick that the records count from
  uint32_t base_high;
  uint32_t begins_low;   // scopes this thread began before
  uint32_t begins_high;
  uint32_t id_low;       // id of the next scope that begins
  uint32_t id_high;
  uint32_t crc;
};
inline constexpr uint32_t kSegmentWords = sizeof(SegmentRecord) / 4;
static_assert(kSegmentWords == 10);

// Table records. Fixed parts are under the crc, counters carry their own check.
struct StringRecord {  // a part of a string; the text follows
  uint32_t head;
  uint32_t crc;
  uint32_t id;
  uint32_t total_bytes;
  uint32_t part_offset;
  uint32_t part_bytes;
};
inline constexpr uint32_t kStringPartBytes = 3072;
inline constexpr uint32_t kMaxStringBytes = 65536;

struct SiteRecord {
  uint32_t head;
  uint32_t crc;
  uint32_t id;
  uint32_t name;
  uint32_t file;
  uint32_t line;
  uint32_t scope;
  uint32_t zero;
};

struct ThreadRecord {
  uint32_t head;
  uint32_t crc;
  uint32_t index;
  int32_t system_id;
  uint32_t logical_id;
  uint32_t name;
  std::atomic<uint64_t> begins_closed;  // checked: scopes begun in the blocks that the thread has left
};

struct ThreadNameRecord {
  uint32_t head;
  uint32_t crc;
  uint32_t index;
  uint32_t name;
};

struct ThreadDropsRecord {  // exists once the thread has lost something
  uint32_t head;
  uint32_t crc;
  uint32_t index;
  uint32_t zero;
  std::atomic<uint64_t> extras;               // checked
  std::atomic<uint64_t> causes[kLossCauses];  // checked
};

struct PropertyRecord {  // of the process or the recording as a whole; the last one of a key counts
  uint32_t head;
  uint32_t crc;
  uint32_t key;
  uint32_t value;  // JSON
};
// Strings that belong to one capture alone have ids from here on; below, the process's.
inline constexpr uint32_t kOwnStrings = 0x80000000;
// And sites that do.
inline constexpr uint32_t kOwnSites = 1u << 23;
// The system id of the entry that records of devices belong to: no thread has it.
inline constexpr int32_t kDeviceThread = -1;

struct StackRecord {  // return addresses follow, innermost first, 8 bytes each
  uint32_t head;
  uint32_t crc;
  uint32_t id;
  uint32_t count;
};
inline constexpr uint32_t kMaxStackFrames = 64;

struct ModuleRecord {  // a program or library that was loaded
  uint32_t head;
  uint32_t crc;
  uint32_t path;
  uint32_t build_id;
  uint64_t start;
  uint64_t end;
  uint64_t bias;
};

struct DeviceRowRecord {  // a device (thread −1) or a queue of one
  uint32_t head;
  uint32_t crc;
  int64_t process_id;
  int64_t thread_id;
  int64_t sort_index;
  uint32_t name;
  uint32_t zero;
};

inline constexpr size_t kDeviceLossCounters = 8;
struct DeviceLossesRecord {  // exists once something was lost before it came here
  uint32_t head;
  uint32_t crc;
  std::atomic<uint64_t> causes[kDeviceLossCounters];  // checked; by DeviceLoss
};

}  // namespace xsigma::profiler::capture
