#include "analysis/memory_json.h"

#include <algorithm>

#include "analysis/memory_summary.h"
#include "base/json_text.h"

namespace xsigma::profiler::analysis {

using base::appendInteger;
using base::appendQuoted;
using base::TextBuffer;

void appendMicroseconds(TextBuffer& out, const MemoryProfile& profile, int64_t time_ns) {
  const int64_t ns = std::max<int64_t>(0, time_ns - profile.start_ns);
  appendInteger(out, ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  out += '.';
  for (const int unit : {100, 10, 1}) out += static_cast<char>('0' + rest / unit % 10);
}

namespace {

template <typename Items, typename Each>
void appendList(TextBuffer& out, const Items& items, Each each) {
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out += ',';
    each(items[i]);
  }
  out += ']';
}

template <size_t N>
void appendNumber(TextBuffer& out, const char (&key)[N], uint64_t value) {
  out += ", \"";
  out += key;
  out += "\": ";
  appendInteger(out, value);
}

const char* actionText(MemoryAction action) {
  switch (action) {
    case MemoryAction::alloc: return "alloc";
    case MemoryAction::free: return "free_completed";
    case MemoryAction::unknown_free: return "free_unknown";
    case MemoryAction::out_of_memory: return "oom";
  }
  return "";
}

class Writing {
 public:
  Writing(const MemoryProfile& profile, base::OutputFile& file) : profile_(profile), file_(file) {}

  Status write() {
    head();
    out_ += ",\n\"devices\": ";
    appendList(out_, profile_.devices, [this](const MemoryDevice& each) { device(each); });
    out_ += ",\n\"device_traces\": ";
    appendList(out_, profile_.devices, [this](const MemoryDevice& each) { trace(each); });
    out_ += "\n}\n";
    flush(0);
    return status_;
  }

 private:
  void flush(size_t until = size_t{1} << 16) {
    if (out_.size() < until) return;
    if (status_.ok()) status_ = file_.write(out_.view());
    out_.clear();
  }

  void head() {
    out_ += "{\"schemaVersion\": 1, \"start_ns\": ";
    appendInteger(out_, profile_.start_ns);
    out_ += ", \"duration_us\": ";
    appendMicroseconds(out_, profile_, profile_.end_ns);
    out_ += ", \"process_id\": ";
    appendInteger(out_, profile_.process_id);
    out_ += ", \"empty\": ";
    out_ += std::string_view(profile_.empty() ? "true" : "false");
    out_ += ",\n\"summary\": ";
    appendQuoted(out_, profile_.summary());
    out_ += ",\n\"losses\": {\"whole\": ";
    const auto truth = [](bool value) { return std::string_view(value ? "true" : "false"); };
    out_ += truth(profile_.whole());
    appendNumber(out_, "reports", profile_.lost_reports);
    appendNumber(out_, "scopes", profile_.lost_scopes);
    out_ += ", \"overwritten\": ";
    out_ += truth(profile_.overwritten);
    out_ += ", \"damaged\": ";
    out_ += truth(profile_.damaged);
    out_ += "},\n\"scopes\": ";
    appendList(out_, profile_.scopes, [this](const MemoryScope& each) {
      out_ += "{\"name\": ";
      appendQuoted(out_, each.name);
      appendNumber(out_, "parent", each.parent);
      out_ += '}';
      flush();
    });
    out_ += ",\n\"threads\": ";
    appendList(out_, profile_.threads, [this](const MemoryThread& each) {
      out_ += "{\"id\": ";
      appendInteger(out_, each.system_id);
      out_ += ", \"name\": ";
      appendQuoted(out_, each.name);
      out_ += '}';
    });
  }

  void time(int64_t time_ns) {
    out_ += "\"time_us\": ";
    appendMicroseconds(out_, profile_, time_ns);
  }

  void scope(uint32_t scope) {
    appendNumber(out_, "scope", scope);
    out_ += ", \"path\": ";
    appendQuoted(out_, profile_.path(scope));
  }

  void holders(const std::vector<MemoryHolder>& all) {
    appendList(out_, all, [this](const MemoryHolder& each) {
      out_ += "{\"size\": ";
      appendInteger(out_, each.bytes);
      appendNumber(out_, "blocks", each.blocks);
      scope(each.scope);
      out_ += '}';
      flush();
    });
  }

  void moment(const MemoryMoment& moment) {
    time(moment.time_ns);
    appendNumber(out_, "allocated", moment.bytes);
    out_ += ", \"categories\": {";
    bool first = true;
    for (const MemoryCategory category : kStackOrder) {
      const uint64_t bytes = moment.by_category[static_cast<size_t>(category)];
      if (bytes == 0) continue;
      if (!first) out_ += ", ";
      first = false;
      appendQuoted(out_, toString(category));
      out_ += ": ";
      appendInteger(out_, bytes);
    }
    out_ += '}';
    appendNumber(out_, "holding_scopes", moment.scopes);
    out_ += ", \"holders\": ";
    holders(moment.holders);
  }

  void device(const MemoryDevice& device) {
    out_ += "\n{\"type\": ";
    appendQuoted(out_, deviceTypeText(device.device.type));
    out_ += ", \"index\": ";
    appendInteger(out_, device.device.index);
    appendNumber(out_, "allocations", device.allocations);
    appendNumber(out_, "releases", device.releases);
    appendNumber(out_, "unknown_releases", device.unknown_releases);
    appendNumber(out_, "unknown_released_bytes", device.unknown_released_bytes);
    appendNumber(out_, "replaced", device.replaced);
    out_ += ",\n \"peak\": {";
    moment(device.peak);
    out_ += "},\n \"out_of_memory\": ";
    appendList(out_, device.shortages, [&](const MemoryShortage& each) {
      const MemoryEvent& event = device.events[each.event];
      out_ += "{\"size\": ";
      appendInteger(out_, each.requested);
      appendNumber(out_, "total_allocated", event.total_allocated);
      appendNumber(out_, "total_reserved", event.total_reserved);
      appendNumber(out_, "thread", event.thread);
      scope(event.scope);
      out_ += ", ";
      moment(each);
      out_ += '}';
      flush();
    });
    leaks(device);
    const MemorySeries series = seriesOf(profile_, device);
    timeline(series);
    out_ += '}';
    flush();
  }

  void leaks(const MemoryDevice& device) {
    out_ += ",\n \"leaks\": {\"count\": ";
    appendInteger(out_, device.leaks.size());
    appendNumber(out_, "size", device.leaked_bytes);
    out_ += ", \"by_scope\": ";
    holders(device.leaks_by_scope);
    out_ += ",\n  \"blocks\": ";
    appendList(out_, device.leaks, [&](uint32_t index) {
      const MemoryEvent& event = device.events[index];
      out_ += "{\"addr\": ";
      appendInteger(out_, event.address);
      appendNumber(out_, "size", event.bytes);
      out_ += ", ";
      time(event.time_ns);
      appendNumber(out_, "thread", event.thread);
      out_ += ", \"category\": ";
      appendQuoted(out_, toString(event.category));
      scope(event.scope);
      out_ += '}';
      flush();
    });
    out_ += '}';
  }

  void timeline(const MemorySeries& series) {
    out_ += ",\n \"timeline\": {\"sampled\": ";
    out_ += std::string_view(series.sampled ? "true" : "false");
    out_ += ", \"categories\": ";
    appendList(out_, kStackOrder, [this](MemoryCategory each) { appendQuoted(out_, toString(each)); });
    out_ += ",\n  \"times\": ";
    appendTimes(out_, profile_, series);
    out_ += ",\n  \"sizes\": ";
    appendCategorySizes(out_, series);
    out_ += "},\n \"by_scope\": {\"scopes\": ";
    appendList(out_, series.scopes, [this](uint32_t each) { appendInteger(out_, each); });
    out_ += ", \"paths\": ";
    appendList(out_, series.scopes, [this](uint32_t each) { appendQuoted(out_, profile_.path(each)); });
    out_ += ", \"others\": ";
    out_ += std::string_view(series.has_others ? "true" : "false");
    out_ += ",\n  \"sizes\": ";
    appendScopeSizes(out_, series);
    out_ += '}';
  }

  void trace(const MemoryDevice& device) {
    out_ += '\n';
    appendList(out_, device.events, [this](const MemoryEvent& event) {
      out_ += "\n{\"action\": \"";
      out_ += std::string_view(actionText(event.action));
      out_ += "\", \"addr\": ";
      appendInteger(out_, event.address);
      appendNumber(out_, "size", event.bytes);
      out_ += ", ";
      time(event.time_ns);
      appendNumber(out_, "allocated", event.allocated);
      appendNumber(out_, "total_allocated", event.total_allocated);
      appendNumber(out_, "total_reserved", event.total_reserved);
      appendNumber(out_, "thread", event.thread);
      appendNumber(out_, "scope", event.scope);
      out_ += ", \"category\": \"";
      out_ += std::string_view(toString(event.category));
      out_ += "\"}";
      flush();
    });
  }

  const MemoryProfile& profile_;
  base::OutputFile& file_;
  TextBuffer out_;
  Status status_;
};

}  // namespace

void appendTimes(TextBuffer& out, const MemoryProfile& profile, const MemorySeries& series) {
  appendList(out, series.rows, [&](const MemorySeries::Row& row) { appendMicroseconds(out, profile, row.time_ns); });
}

void appendCategorySizes(TextBuffer& out, const MemorySeries& series) {
  appendList(out, series.rows, [&](const MemorySeries::Row& row) {
    out += "[0";
    for (const uint64_t bytes : row.by_category) {
      out += ',';
      appendInteger(out, bytes);
    }
    out += ']';
  });
}

void appendScopeSizes(TextBuffer& out, const MemorySeries& series) {
  appendList(out, series.rows, [&](const MemorySeries::Row& row) {
    out += "[0";
    for (size_t i = 0; i < series.scopes.size(); ++i) {
      out += ',';
      appendInteger(out, row.by_scope[i]);
    }
    if (series.has_others) {
      out += ',';
      appendInteger(out, row.by_scope[kMostScopes]);
    }
    out += ']';
  });
}

Status writeMemoryJson(const MemoryProfile& profile, base::OutputFile& file) { return Writing(profile, file).write(); }

}  // namespace xsigma::profiler::analysis
