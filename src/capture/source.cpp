#include "capture/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "capture/format.h"

namespace xsigma::profiler {

using namespace capture;

namespace {

constexpr size_t kHeaderMost = kPageBytes;

void readStop(const StopRecord& stop, uint64_t image_size, Capture::Source::Contents& contents, std::vector<base::ClockPair>& pairs) {
  static constexpr StopRecord kRunning{};
  if (std::memcmp(&stop, &kRunning, sizeof stop) == 0) return;
  if (stop.crc != base::crc32(&stop, offsetof(StopRecord, crc))) {
    contents.damages.push_back({offsetof(HeaderPage, stop), "the stop record is damaged; the capture counts as not closed"});
    return;
  }
  contents.info.closed = true;
  contents.info.stop_monotonic_ns = stop.monotonic_ns;
  contents.info.bytes_used = stop.bytes_used;
  pairs.push_back({stop.ticks, stop.monotonic_ns});
  if (stop.bytes_used > image_size) {
    contents.damages.push_back({image_size, fmt::format("the file ends here, {} bytes early", stop.bytes_used - image_size)});
  }
}

// Without a ring every stretch of a thread goes on where the one before ended. Where the file was cut, or written to while it was read, one may be
// missing: what follows it goes too, so that the rest is a prefix.
void keepPrefixes(std::vector<Segment>& segments) {
  uint32_t thread = UINT32_MAX;
  uint32_t number = 0;
  uint64_t begins = 0;
  bool cut = false;
  const auto gone = [&](const Segment& segment) {
    if (segment.thread != thread) {
      thread = segment.thread;
      number = 0;
      begins = 0;
      cut = false;
    }
    if (cut || segment.number != number || segment.begins_before != begins) return true;
    cut = segment.cut;
    ++number;
    begins += segment.begins + segment.late_begins;
    return false;
  };
  segments.erase(std::remove_if(segments.begin(), segments.end(), gone), segments.end());
}

// A thread may have filled the rest of a block after it was read, and have gone on in one that was read later.
void markOutgrown(const Image& image, std::vector<Segment>& segments) {
  for (Segment& segment : segments) {
    uint64_t cursor = 0;
    if (!segment.last_in_block || image.read(segment.block_offset + offsetof(BlockHeader, cursor), &cursor, sizeof cursor) != sizeof cursor) continue;
    segment.cut |= cursorWords(cursor) > segment.end_word;
  }
}

uint64_t headerCounter(const HeaderPage& header, size_t index, Damages& damages) {
  const uint64_t packed = header.counters[index].load(std::memory_order_relaxed);
  if (base::isChecked(packed)) return base::unpackChecked(packed);
  damages.push_back({offsetof(HeaderPage, counters) + index * sizeof(uint64_t), "a counter of the header is damaged; it counts as 0"});
  return 0;
}

}  // namespace

Status capture::checkHeader(const Image& image, const std::string& what) {
  FileHeader header{};
  if (image.read(0, &header, sizeof header) != sizeof header) {
    return {StatusCode::corrupt, fmt::format("{} is no capture: it has {} bytes, a capture's header alone has {}. Check that the copy is complete",
                                             what, image.size(), sizeof header)};
  }
  if (header.magic != kFileMagic) {
    return {StatusCode::corrupt, fmt::format("{} is no capture: it does not begin as an .xst file does. Name a file that XSigma Profiler recorded", what)};
  }
  if (header.version_major > kVersionMajor) {
    return {StatusCode::too_new, fmt::format("{} has format version {}.{}; this build reads up to {}.x. Read it with a newer xsp", what,
                                             header.version_major, header.version_minor, kVersionMajor)};
  }
  if (header.crc != base::crc32(&header, offsetof(FileHeader, crc))) {
    return {StatusCode::corrupt, fmt::format("{} is damaged: the checksum of its header is wrong. Restore it from a sound copy", what)};
  }
  return {};
}

Capture::Source::Source(std::shared_ptr<const capture::Image> image, std::string path) : image_(std::move(image)), path_(std::move(path)) {}

const Capture::Source::Contents& Capture::Source::contents() const {
  std::call_once(looked_, [this] { contents_ = look(); });
  return *contents_;
}

std::unique_ptr<Capture::Source::Contents> Capture::Source::look() const {
  auto found = std::make_unique<Contents>(image_->size());
  alignas(HeaderPage) unsigned char bytes[kHeaderMost] = {};
  const size_t header_bytes = image_->read(0, bytes, sizeof bytes);
  const auto& header = *reinterpret_cast<const HeaderPage*>(bytes);
  if (header_bytes < sizeof(HeaderPage)) {
    found->damages.push_back({header_bytes, "the file ends inside its header"});
  }
  CaptureInfo& info = found->info;
  info.path = path_;
  info.version_major = header.file.version_major;
  info.version_minor = header.file.version_minor;
  info.policy = static_cast<CapturePolicy>(header.file.policy);
  info.byte_cap = header.file.byte_cap;
  info.bytes_used = image_->size();
  info.process_id = header.file.process_id;
  info.ordered_end = (header.file.flags & kOrderedEnd) != 0;
  info.counter_is_clock = (header.file.flags & kCounterIsClock) != 0;
  info.start_unix_ns = header.file.start_realtime_ns;
  info.start_monotonic_ns = header.file.start_monotonic_ns;
  info.start_ticks = header.file.start_ticks;

  std::vector<base::ClockPair> pairs{{header.file.start_ticks, header.file.start_monotonic_ns}};
  readStop(header.stop, image_->size(), *found, pairs);
  for (size_t i = 0; i < kClockEntries; ++i) {
    const ClockEntry& entry = header.clock[i];
    static constexpr ClockEntry kUnused{};
    if (std::memcmp(&entry, &kUnused, sizeof entry) == 0) continue;
    if (entry.crc == base::crc32(&entry, offsetof(ClockEntry, crc))) {
      pairs.push_back({entry.ticks, entry.monotonic_ns});
    } else {
      found->damages.push_back({offsetof(HeaderPage, clock) + i * sizeof(ClockEntry), "a clock pair is damaged; it is left out"});
    }
  }
  found->clock = TickClock(std::move(pairs), header.file.ticks_per_ms);
  found->extras_dropped = headerCounter(header, kHeaderExtrasDropped, found->damages);
  found->names_dropped = headerCounter(header, kHeaderNamesDropped, found->damages);
  found->threads_dropped = headerCounter(header, kHeaderThreadsDropped, found->damages);
  for (size_t i = 0; i < kLossCauses; ++i) found->unattributed[i] = headerCounter(header, kHeaderDrops + i, found->damages);

  uint64_t last_block_end = kPageBytes;
  bool cut_short = info.closed && info.bytes_used > image_->size();
  // The tables of a live capture are read after its data: they have what the records refer to.
  walkBlocks(
      *image_, found->damages,
      [&](const BlockCopy& block) {
        cut_short |= block.end_words < cursorWords(block.cursor);
        if (block.type == BlockType::data) indexBlock(block, found->segments, found->damages);
        if (block.type == BlockType::table && info.closed) found->tables.add(block, found->damages);
        last_block_end = block.offset + block.words.size() * 4;
      },
      info.closed);
  if (!info.closed) {
    markOutgrown(*image_, found->segments);
    Damages named_already;
    walkBlocks(*image_, named_already, [&](const BlockCopy& block) {
      if (block.type == BlockType::table) found->tables.add(block, found->damages);
    });
  }
  if (!info.closed) info.bytes_used = last_block_end;
  found->tables.finish();
  std::sort(found->segments.begin(), found->segments.end(),
            [](const Segment& a, const Segment& b) { return a.thread != b.thread ? a.thread < b.thread : a.number < b.number; });
  if (info.policy != CapturePolicy::ring && (cut_short || (!info.closed && found->damages.empty()))) keepPrefixes(found->segments);
  for (const ThreadTable& thread : found->tables.threads()) found->threads.push_back(thread.info);
  return found;
}

}  // namespace xsigma::profiler
