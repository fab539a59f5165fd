// KeyAverages::table(): the averages as columns of text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/average_order.h"
#include "base/saturating.h"

namespace xsigma::profiler {
namespace {

using analysis::wordOf;

constexpr std::string_view kGap = "  ";

std::string timeText(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3f}s", ns * 1e-9);
  if (ns >= 1e6) return fmt::format("{:.3f}ms", ns * 1e-6);
  return fmt::format("{:.3f}us", ns * 1e-3);
}
std::string timeText(int64_t ns) { return timeText(static_cast<double>(ns)); }

std::string bytesText(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  const double size = std::abs(value);
  if (size >= 1024.0 * 1024 * 1024) return fmt::format("{:.2f} GB", value / (1024.0 * 1024 * 1024));
  if (size >= 1024.0 * 1024) return fmt::format("{:.2f} MB", value / (1024.0 * 1024));
  if (size >= 1024.0) return fmt::format("{:.2f} KB", value / 1024.0);
  return fmt::format("{} b", bytes);
}

std::string shareText(int64_t part, int64_t whole) {
  return whole == 0 ? "0.00%" : fmt::format("{:.2f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }
size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

// One line, at most so many characters wide.
std::string shortened(std::string text, int most) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  constexpr std::string_view kMore = "...";
  const auto wide = static_cast<size_t>(std::max(most, static_cast<int>(kMore.size()) + 1));
  if (most <= 0 || widthOf(text) <= wide) return text;
  size_t kept = 0;
  for (size_t characters = 0; kept < text.size(); ++kept) {
    if (!continues(text[kept]) && characters++ == wide - kMore.size()) break;
  }
  return text.substr(0, kept) + std::string(kMore);
}

struct Column {
  std::string header;
  bool is_text = false;  // at the left
  std::vector<std::string> cells = {};
  size_t width = 0;
};

// FLOPs in the unit that suits the largest.
struct FlopsUnit {
  std::string header;
  double scale;
};
FlopsUnit unitOf(uint64_t most) {
  const auto value = static_cast<double>(most);
  if (value >= 1e12) return {"Total TFLOPs", 1e12};
  if (value >= 1e9) return {"Total GFLOPs", 1e9};
  if (value >= 1e6) return {"Total MFLOPs", 1e6};
  if (value >= 1e3) return {"Total KFLOPs", 1e3};
  return {"Total FLOPs", 1};
}

class TableText {
 public:
  TableText(const KeyAverages::Contents& contents, std::vector<const KeyAverage*> rows, const TableOptions& options)
      : contents_(contents), rows_(std::move(rows)), options_(options) {}

  std::string text() {
    makeColumns();
    std::string out;
    const std::string rule = line([](const Column&, size_t width) { return std::string(width, '-'); });
    if (!options_.header.empty()) out += options_.header + "\n";
    out += rule + line([](const Column& column, size_t width) { return placed(column, column.header, width); }) + rule;
    for (size_t row = 0; row < rows_.size(); ++row) {
      out += line([&](const Column& column, size_t width) { return placed(column, column.cells[row], width); });
    }
    return out + rule;
  }

 private:
  using Cell = std::function<std::string(const KeyAverage&)>;

  void add(std::string header, const Cell& cell, bool is_text = false) {
    Column column{std::move(header), is_text};
    column.width = widthOf(column.header);
    for (const KeyAverage* const row : rows_) {
      column.cells.push_back(cell(*row));
      column.width = std::max(column.width, widthOf(column.cells.back()));
    }
    columns_.push_back(std::move(column));
  }

  void makeColumns() {
    add(
        "Name", [&](const KeyAverage& row) { return shortened(row.name, options_.max_name_column_width); }, true);
    if (contents_.group_by.thread)
      add(
          "Thread", [](const KeyAverage& row) { return row.thread; }, true);
    addCpuTimes();
    if (options_.statistics) addStatistics();
    if (contents_.device != DeviceType::CPU) addDeviceTimes(std::string(wordOf(contents_.device)));
    if (contents_.has_memory) addMemory(std::string(wordOf(contents_.device)));
    add("# of Calls", [](const KeyAverage& row) { return fmt::to_string(row.calls); });
    if (contents_.group_by.input_shapes) {
      add(
          "Input Shapes", [&](const KeyAverage& row) { return shortened(row.input_shapes, options_.max_shapes_column_width); }, true);
    }
    if (contents_.group_by.stack_frames != 0) {
      add(
          "Source Location",
          [&](const KeyAverage& row) { return shortened(fmt::format("{}", fmt::join(row.stack, " < ")), options_.max_src_column_width); },
          true);
    }
    addFlops();
  }

  void addCpuTimes() {
    const int64_t whole = contents_.self_cpu_ns;
    add("Self CPU %", [=](const KeyAverage& row) { return row.is_async ? "-" : shareText(row.self_cpu_ns, whole); });
    add("Self CPU", [](const KeyAverage& row) { return timeText(row.self_cpu_ns); });
    add("CPU total %", [=](const KeyAverage& row) { return row.is_async ? "-" : shareText(row.cpu_total_ns, whole); });
    add("CPU total", [](const KeyAverage& row) { return timeText(row.cpu_total_ns); });
    add("CPU time avg", [](const KeyAverage& row) { return timeText(row.device == DeviceType::CPU ? row.durations.mean : 0.0); });
  }

  void addStatistics() {
    add("Min", [](const KeyAverage& row) { return timeText(row.durations.min); });
    add("Median", [](const KeyAverage& row) { return timeText(row.durations.median); });
    add("P95", [](const KeyAverage& row) { return timeText(row.durations.p95); });
    add("P99", [](const KeyAverage& row) { return timeText(row.durations.p99); });
    add("Max", [](const KeyAverage& row) { return timeText(row.durations.max); });
    add("Std dev", [](const KeyAverage& row) { return timeText(row.durations.stddev); });
  }

  // Shares of what the devices' own rows add up to.
  void addDeviceTimes(const std::string& word) {
    int64_t whole = 0;
    for (const KeyAverage& row : contents_.rows) {
      if (row.device != DeviceType::CPU && !row.is_user_annotation) base::addTo(whole, row.self_device_ns);
    }
    add("Self " + word, [](const KeyAverage& row) { return timeText(row.self_device_ns); });
    add("Self " + word + " %", [=](const KeyAverage& row) { return shareText(row.self_device_ns, whole); });
    add(word + " total", [](const KeyAverage& row) { return timeText(row.device_total_ns); });
    add(word + " time avg", [](const KeyAverage& row) {
      return timeText(row.calls != 0 ? static_cast<double>(row.device_total_ns) / static_cast<double>(row.calls) : 0.0);
    });
  }

  void addMemory(const std::string& word) {
    add("CPU Mem", [](const KeyAverage& row) { return bytesText(row.cpu_bytes); });
    add("Self CPU Mem", [](const KeyAverage& row) { return bytesText(row.self_cpu_bytes); });
    if (contents_.device == DeviceType::CPU) return;
    add(word + " Mem", [](const KeyAverage& row) { return bytesText(row.device_bytes); });
    add("Self " + word + " Mem", [](const KeyAverage& row) { return bytesText(row.self_device_bytes); });
  }

  void addFlops() {
    uint64_t most = 0;
    for (const KeyAverage& row : contents_.rows) most = std::max(most, row.flops);
    if (most == 0) return;
    const FlopsUnit unit = unitOf(most);
    add(unit.header,
        [&](const KeyAverage& row) { return row.flops == 0 ? "--" : fmt::format("{:.3f}", static_cast<double>(row.flops) / unit.scale); });
  }

  static std::string placed(const Column& column, std::string_view text, size_t width) {
    const std::string space(width - std::min(width, widthOf(text)), ' ');
    return column.is_text ? std::string(text) + space : space + std::string(text);
  }

  template <typename Make>
  std::string line(Make make) const {
    std::string out;
    for (const Column& column : columns_) {
      if (!out.empty()) out += kGap;
      out += make(column, column.width);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  }

  const KeyAverages::Contents& contents_;
  std::vector<const KeyAverage*> rows_;
  const TableOptions& options_;
  std::vector<Column> columns_;
};

}  // namespace

std::string KeyAverages::table(const TableOptions& options) const {
  std::vector<const KeyAverage*> rows = analysis::inOrder(*contents_, options.sort_by);
  if (options.top_level_events_only)
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const KeyAverage* row) { return !row->is_top_level; }), rows.end());
  const size_t all = rows.size();
  if (options.row_limit >= 0 && rows.size() > static_cast<size_t>(options.row_limit)) rows.resize(static_cast<size_t>(options.row_limit));
  const size_t left_out = all - rows.size();
  std::string out = TableText(*contents_, std::move(rows), options).text();
  if (left_out != 0) out += fmt::format("{} more rows: row_limit is {}\n", left_out, options.row_limit);
  out += fmt::format("Self CPU time total: {}\n", timeText(contents_->self_cpu_ns));
  if (contents_->device != DeviceType::CPU)
    out += fmt::format("{} busy: {}\n", wordOf(contents_->device), timeText(contents_->device_busy_ns));
  const auto releases = [](const KeyAverage& row) { return row.self_cpu_bytes < 0 || row.self_device_bytes < 0; };
  if (std::any_of(contents_->rows.begin(), contents_->rows.end(), releases))
    out += "Memory below zero: more was released there than allocated\n";
  if (contents_->unfinished != 0)
    out += fmt::format("{} scopes have no end: they are counted until the end of the recording\n", contents_->unfinished);
  if (contents_->lost != 0) out += fmt::format("{} scopes were lost and are in no row; the ledger says why\n", contents_->lost);
  if (contents_->lost_of_devices != 0)
    out += fmt::format("{} records of devices were lost: device times are too small; the ledger says why\n", contents_->lost_of_devices);
  if (!contents_->complete) out += "The deadline came first: these are the averages of a part of the events\n";
  return out;
}

}  // namespace xsigma::profiler
