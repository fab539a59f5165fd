#include "capture/tables.h"

#include <cstring>
#include <map>

#include "base/checksum.h"
#include "capture/table_record.h"

namespace xsigma::profiler::capture {
namespace {

template <typename T>
T& at(std::vector<T>& all, size_t index) {
  if (index >= all.size()) all.resize(index + 1);
  return all[index];
}

uint32_t wordAt(const char* record, size_t offset) {
  uint32_t word;
  std::memcpy(&word, record + offset, sizeof word);
  return word;
}

uint64_t checkedAt(const char* record, size_t offset, uint64_t file_offset, Damages& damages) {
  uint64_t packed;
  std::memcpy(&packed, record + offset, sizeof packed);
  if (base::isChecked(packed)) return base::unpackChecked(packed);
  damages.push_back({file_offset + offset, "a counter of the thread table is damaged; it counts as 0"});
  return 0;
}

// Bytes under the crc: all of the record, or the part before its counters.
size_t checkedBytes(Code code, size_t bytes) {
  if (code == Code::thread) return offsetof(ThreadRecord, begins_closed);
  if (code == Code::thread_drops) return offsetof(ThreadDropsRecord, extras);
  if (code == Code::device_losses) return offsetof(DeviceLossesRecord, causes);
  return bytes;
}

size_t leastBytes(Code code) {
  switch (code) {
    case Code::string: return sizeof(StringRecord);
    case Code::site: return sizeof(SiteRecord);
    case Code::thread: return sizeof(ThreadRecord);
    case Code::thread_name: return sizeof(ThreadNameRecord);
    case Code::thread_drops: return sizeof(ThreadDropsRecord);
    case Code::property: return sizeof(PropertyRecord);
    case Code::stack_frames: return sizeof(StackRecord);
    case Code::module: return sizeof(ModuleRecord);
    case Code::device_row: return sizeof(DeviceRowRecord);
    case Code::device_losses: return sizeof(DeviceLossesRecord);
    default: return 8;
  }
}

}  // namespace

ThreadTable& Tables::thread(uint32_t index) {
  ThreadTable& found = at(threads_, index);
  found.info.thread = index;
  return found;
}

void Tables::addString(const char* record, size_t bytes, uint64_t offset, Damages& damages) {
  const uint32_t id = wordAt(record, offsetof(StringRecord, id));
  const uint32_t total = wordAt(record, offsetof(StringRecord, total_bytes));
  const uint32_t part_offset = wordAt(record, offsetof(StringRecord, part_offset));
  const uint32_t part_bytes = wordAt(record, offsetof(StringRecord, part_bytes));
  if (total > kMaxStringBytes || part_bytes > bytes - sizeof(StringRecord) || part_offset > total ||
      part_bytes > total - part_offset) {
    damages.push_back({offset, "a string of the tables does not fit its own length; it is left out"});
    return;
  }
  std::string& text = strings_[id];
  text.resize(total);
  std::memcpy(text.data() + part_offset, record + sizeof(StringRecord), part_bytes);
}

void Tables::add(const BlockCopy& block, Damages& damages) {
  uint32_t at_word = kBlockHeaderWords;
  while (at_word + 2 <= block.end_words) {
    const char* const record = reinterpret_cast<const char*>(block.words.data() + at_word);
    const uint64_t offset = block.offset + at_word * 4;
    const uint32_t head = wordAt(record, 0);
    const Code code = headCode(head);
    const uint32_t words = headUnits(head) * 2;
    if (!headUnitsSound(head) || words < 2 || words > block.end_words - at_word) {
      damages.push_back({offset, "the framing of this table is damaged; the rest of the block is lost"});
      return;
    }
    at_word += words;
    const size_t bytes = words * 4;
    if (bytes < leastBytes(code) || wordAt(record, 4) != tableCrc(record, checkedBytes(code, bytes))) {
      damages.push_back({offset, "a record of the tables is damaged; it is left out"});
      continue;
    }
    switch (code) {
      case Code::string: addString(record, bytes, offset, damages); break;
      case Code::site: {
        const uint32_t id = wordAt(record, offsetof(SiteRecord, id));
        const uint32_t scope = wordAt(record, offsetof(SiteRecord, scope));
        if (id >= kMaxSites || scope >= kNumRecordScopes) break;
        sites_[id] = {wordAt(record, offsetof(SiteRecord, name)), wordAt(record, offsetof(SiteRecord, file)),
                      wordAt(record, offsetof(SiteRecord, line)), static_cast<RecordScope>(scope)};
        break;
      }
      case Code::thread: {
        const uint32_t index = wordAt(record, offsetof(ThreadRecord, index));
        if (index >= most_threads_) break;
        ThreadTable& found = thread(index);
        found.known = true;
        found.info.system_id = static_cast<int32_t>(wordAt(record, offsetof(ThreadRecord, system_id)));
        found.info.logical_id = wordAt(record, offsetof(ThreadRecord, logical_id));
        found.begins_closed = checkedAt(record, offsetof(ThreadRecord, begins_closed), offset, damages);
        capture::at(thread_names_, index) = wordAt(record, offsetof(ThreadRecord, name));
        break;
      }
      case Code::thread_name: {
        const uint32_t index = wordAt(record, offsetof(ThreadNameRecord, index));
        if (index < most_threads_) capture::at(thread_names_, index) = wordAt(record, offsetof(ThreadNameRecord, name));
        break;
      }
      case Code::thread_drops: {
        const uint32_t index = wordAt(record, offsetof(ThreadDropsRecord, index));
        if (index >= most_threads_) break;
        ThreadTable& found = thread(index);
        found.extras_dropped += checkedAt(record, offsetof(ThreadDropsRecord, extras), offset, damages);
        for (size_t i = 0; i < kLossCauses; ++i) {
          found.causes[i] += checkedAt(record, offsetof(ThreadDropsRecord, causes) + i * sizeof(uint64_t), offset, damages);
        }
        break;
      }
      case Code::property:
        property_strings_.push_back({wordAt(record, offsetof(PropertyRecord, key)), wordAt(record, offsetof(PropertyRecord, value))});
        break;
      case Code::stack_frames: addStack(record, bytes); break;
      case Code::module: {
        ModuleRecord found;
        std::memcpy(&found, record, sizeof found);
        module_strings_.push_back({found.path, found.build_id});
        modules_.push_back({{}, {}, found.start, found.end, found.bias});
        break;
      }
      case Code::device_row: {
        DeviceRowRecord found;
        std::memcpy(&found, record, sizeof found);
        device_row_names_.push_back(found.name);
        device_rows_.push_back({found.process_id, found.thread_id, found.sort_index, {}});
        break;
      }
      case Code::device_losses:
        for (size_t i = 0; i < kDeviceLossCounters; ++i) {
          device_losses_[i] += checkedAt(record, offsetof(DeviceLossesRecord, causes) + i * sizeof(uint64_t), offset, damages);
        }
        break;
      default: break;  // of a later minor version
    }
  }
}

void Tables::addStack(const char* record, size_t bytes) {
  const uint32_t count = wordAt(record, offsetof(StackRecord, count));
  if (count > (bytes - sizeof(StackRecord)) / sizeof(uint64_t)) return;
  std::vector<uint64_t>& frames = stacks_[wordAt(record, offsetof(StackRecord, id))];
  frames.resize(count);
  if (count != 0) std::memcpy(frames.data(), record + sizeof(StackRecord), count * sizeof(uint64_t));
}

void Tables::finish() {
  for (size_t i = 0; i < modules_.size(); ++i) {
    modules_[i].path = string(module_strings_[i].first);
    modules_[i].build_id = string(module_strings_[i].second);
  }
  for (size_t i = 0; i < device_rows_.size(); ++i) device_rows_[i].name = string(device_row_names_[i]);
  std::map<std::string_view, std::string_view> latest;
  for (const StringPair& property : property_strings_) latest[string(property.first)] = string(property.second);
  for (const auto& [key, json] : latest) properties_.push_back({std::string(key), std::string(json)});
  for (size_t i = 0; i < threads_.size(); ++i) {
    threads_[i].info.thread = static_cast<uint32_t>(i);
    if (i < thread_names_.size()) threads_[i].info.name = string(thread_names_[i]);
  }
  dense_sites_.assign(sites_.size() * 4 + 16, nullptr);
  for (const auto& [id, site] : sites_) {
    const ResolvedSite& resolved = resolved_sites_[id] = {string(site.name), string(site.file), site.line, site.scope};
    if (id < dense_sites_.size()) dense_sites_[id] = &resolved;
  }
}

std::string_view Tables::string(uint32_t id) const {
  const auto found = strings_.find(id);
  return found != strings_.end() ? std::string_view(found->second) : std::string_view();
}

}  // namespace xsigma::profiler::capture
