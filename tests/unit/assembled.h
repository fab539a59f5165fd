// The events of a capture by name, with parents, and its JSON as text: what the tests of assembly look at.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "assemble/event_table.h"
#include "hand_capture.h"
#include "xsigma/profiler/exporter.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler::test {

class Assembled {
 public:
  explicit Assembled(const Capture& capture) : table_(assemble::tabulate(assembleTrace(capture))) {}

  using Entry = assemble::EventTable::Entry;
  const std::vector<Entry>& entries() const { return table_->entries; }
  const TraceTotals& totals() const { return table_->totals; }
  const Trace& trace() const { return *table_->trace; }

  std::string name(const Entry& entry) const {
    if (entry.event.kind == TraceEventKind::memory) return "[memory]";
    if (entry.event.kind == TraceEventKind::out_of_memory) return "[OutOfMemory]";
    return std::string(trace().name(entry.event.name).text);
  }
  std::vector<const Entry*> all(std::string_view wanted) const {
    std::vector<const Entry*> found;
    for (const Entry& entry : entries()) {
      if (name(entry) == wanted) found.push_back(&entry);
    }
    return found;
  }
  // The only one of that name.
  const Entry& operator[](std::string_view wanted) const {
    const std::vector<const Entry*> found = all(wanted);
    if (found.size() != 1) throw std::runtime_error(std::to_string(found.size()) + " events are called " + std::string(wanted));
    return *found.front();
  }
  bool has(std::string_view wanted) const { return !all(wanted).empty(); }
  std::string parentName(const Entry& entry) const { return entry.parent == assemble::kNoParent ? "" : name(entries()[entry.parent]); }
  std::string parent(std::string_view of) const { return parentName((*this)[of]); }
  std::string children(std::string_view of) const {
    std::string names;
    for (const Entry& entry : entries()) {
      if (entry.parent != assemble::kNoParent && &entries()[entry.parent] == &(*this)[of])
        names += (names.empty() ? "" : " ") + name(entry);
    }
    return names;
  }
  int64_t self(std::string_view of) const {
    const Entry& entry = (*this)[of];
    int64_t ns = entry.event.duration_ns;
    for (const Entry& each : entries()) {
      if (each.parent != assemble::kNoParent && &entries()[each.parent] == &entry) ns -= each.event.duration_ns;
    }
    return ns;
  }
  // Since the start of a hand-written capture.
  int64_t start(std::string_view of) const { return (*this)[of].event.start_ns - kHandRealtime; }
  int64_t duration(std::string_view of) const { return (*this)[of].event.duration_ns; }
  const TraceRow& row(const Entry& entry) const { return table_->row(entry); }

 private:
  std::shared_ptr<assemble::EventTable> table_;
};

inline std::string fileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A folder of this test alone, removed with what is in it.
inline std::string exportPath(const std::string& name) {
  return ::testing::TempDir() + "xsigma_export_" + std::to_string(getpid()) + "_" + name;
}

// As exportCapture writes it; the path that it carries is replaced by its last part.
inline std::string exportText(const Capture& capture, const ExportOptions& options = {}, const std::string& name = "trace.json") {
  const std::string path = exportPath(name);
  const Expected<ExportReport> report = exportCapture(capture, path, options);
  if (!report) throw std::runtime_error(report.message());
  std::string text = fileText(path);
  unlink(path.c_str());
  const size_t at = text.rfind(path);
  if (at != std::string::npos) text.replace(at, path.size(), name);
  return text;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
inline size_t countOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The line of the only event of that name and phase; "" if there is none or more than one.
inline std::string jsonLine(const std::string& text, std::string_view name, std::string_view phase = "X") {
  std::string found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (contains(line, "\"ph\": \"" + std::string(phase) + "\"") && contains(line, "\"name\": \"" + std::string(name) + "\"")) {
      if (!found.empty()) return "";
      found = line;
    }
    at = end + 1;
  }
  return found;
}

// Strict JSON that keeps the rules of all readers: "" or what the checker says. Needs python3.
inline std::string checkerSays(const std::string& text, const std::string& options = "") {
  const std::string path = exportPath("checked.json");
  std::ofstream(path, std::ios::binary) << text;
  FILE* const pipe = popen(("python3 -B " XSIGMA_TEST_CHECKER " " + options + " " + path + " 2>&1").c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, bytes);
  const int status = pclose(pipe);
  unlink(path.c_str());
  return status == 0 ? "" : output;
}

}  // namespace xsigma::profiler::test
