#include "analysis/memory_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analysis/memory_json.h"
#include "analysis/memory_page.h"
#include "analysis/memory_series.h"
#include "analysis/memory_summary.h"
#include "base/json_text.h"

namespace xsigma::profiler::analysis {
namespace {

using base::TextBuffer;

constexpr size_t kMostBlocksShown = 200;
constexpr size_t kMostMarks = 200;

// Text of any bytes as the content of an element or of an attribute in quotes.
std::string escaped(std::string_view text) {
  const std::vector<std::string> valid = base::jsonTexts("[" + base::quoted(text) + "]");  // UTF-8, whatever it was
  std::string out;
  for (const char c : valid.front()) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

// JSON that may stand inside a script element: no "<" in it, so no end of the element and no comment.
void appendSafe(TextBuffer& out, std::string_view json) {
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

class Page {
 public:
  explicit Page(const MemoryProfile& profile) : profile_(profile) {}

  std::string_view write() {
    out_ +=
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>";
    const bool any = !profile_.empty() && profile_.devices.front().allocations != 0;
    put(any ? fmt::format("Memory: peak {}", bytesText(profile_.devices.front().peak.bytes)) : "Memory");
    out_ += "</title>\n<style>";
    out_ += std::string_view(kPageStyle);
    out_ += "</style></head>\n<body><main>\n";
    head();
    for (size_t i = 0; i < profile_.devices.size(); ++i) section(i);
    out_ += "<script type=\"application/json\" id=\"data\">";
    data();
    out_ += "</script>\n<script>";
    out_ += std::string_view(kPageScript);
    out_ += "</script>\n</main></body></html>\n";
    return out_.view();
  }

 private:
  void put(std::string_view text) { out_ += std::string_view(escaped(text)); }
  void raw(std::string_view html) { out_ += html; }

  std::string sentence(const MemoryDevice& device) const {
    if (device.allocations == 0)
      return fmt::format("No allocation was seen on {}, only {}.", deviceText(device.device), insteadText(device));
    return fmt::format("{} memory peaked at {}, {} after the start of the recording.", deviceText(device.device),
                       bytesText(device.peak.bytes), timeText(device.peak.time_ns - profile_.start_ns));
  }

  void head() {
    raw("<h1>");
    put(profile_.empty() ? "Nobody reported memory." : sentence(profile_.devices.front()));
    raw("</h1>\n<p class=\"soft\">");
    put(fmt::format(
        "What process {} allocated and released while XSigma Profiler recorded it, for {}. Memory is told by the scope that allocated it: "
        "“outer › inner” is a scope inside another one.",
        profile_.process_id, timeText(profile_.end_ns - profile_.start_ns)));
    raw("</p>\n");
    if (profile_.empty()) {
      raw("<p class=\"alarm\">");
      put(kNobodyReported);
      raw("</p>\n");
    }
    const std::string losses = lossText(profile_);
    raw(losses.empty() ? "<p class=\"soft\">Nothing was lost: the profile has every report that was made.</p>\n" : "<p class=\"alarm\">");
    if (losses.empty()) return;
    put(losses);
    raw("</p>\n");
  }

  void section(size_t index) {
    const MemoryDevice& device = profile_.devices[index];
    raw(fmt::format("<section id=\"device{}\">\n", index));
    if (profile_.devices.size() > 1) {
      raw("<h2>");
      put(index == 0 ? deviceText(device.device) : sentence(device));
      raw("</h2>\n");
    }
    raw("<div class=\"bar\"><span class=\"switch\"><button value=\"by_category\" aria-pressed=\"true\">By category</button>"
        "<button value=\"by_scope\" aria-pressed=\"false\">By scope</button></span><span class=\"soft\">");
    put(fmt::format("{}, {}. Point at the picture to read it.", countText(device.allocations, "allocation"),
                    countText(device.releases, "release")));
    raw("</span></div>\n<div class=\"chart\"><div class=\"tip\"></div></div><ul class=\"legend\"></ul>\n"
        "<noscript><p class=\"alarm\">The picture needs JavaScript; the tables below do not.</p></noscript>\n");
    peak(device);
    shortages(device);
    leaks(device);
    notes(device);
    raw("</section>\n");
  }

  void path(uint32_t scope) {
    raw("<td class=\"path\">");
    const std::string whole = profile_.path(scope);
    if (scope == 0) {
      raw("<span>outside of any scope</span></td>");
      return;
    }
    std::string_view outer = whole;
    outer.remove_suffix(std::min(outer.size(), profile_.scopes[scope].name.size()));
    raw("<span>");
    for (size_t at = outer.find(" > "); at != std::string_view::npos; at = outer.find(" > ")) {
      put(outer.substr(0, at));
      raw(" › ");
      outer.remove_prefix(at + 3);
    }
    raw("</span>");
    put(profile_.scopes[scope].name);
    raw("</td>");
  }

  void holders(const std::vector<MemoryHolder>& all, uint64_t total) {
    raw("<table><tr><th class=\"number\">bytes</th><th class=\"number\">share</th><th class=\"number\">allocations</th><th>allocated "
        "in</th></tr>\n");
    for (size_t i = 0; i < std::min(all.size(), kMostHolders); ++i) {
      const MemoryHolder& each = all[i];
      const double share = total == 0 ? 0 : 100 * static_cast<double>(each.bytes) / static_cast<double>(total);
      raw(fmt::format(
          "<tr><td class=\"number\">{}</td><td class=\"number\">{:.1f} % <span class=\"share\"><i style=\"width:{:.1f}%\"></i></span></td>"
          "<td class=\"number\">{}</td>",
          bytesText(each.bytes), share, share, each.blocks));
      path(each.scope);
      raw("</tr>\n");
    }
    raw("</table>\n");
  }

  void more(uint64_t all, size_t shown, const char* thing) {
    if (all > shown) raw(fmt::format("<p class=\"soft\">and {} more.</p>\n", countText(all - shown, thing)));
  }

  void peak(const MemoryDevice& device) {
    if (device.peak.holders.empty()) return;
    raw("<h2>Who held memory at the peak</h2>\n");
    holders(device.peak.holders, device.peak.bytes);
    more(device.peak.scopes, device.peak.holders.size(), "scope");
  }

  void shortages(const MemoryDevice& device) {
    constexpr size_t kMostShown = 5;
    if (device.shortages.empty()) return;
    raw("<h2>Out of memory</h2>\n");
    for (size_t i = 0; i < std::min(device.shortages.size(), kMostShown); ++i) {
      const MemoryShortage& each = device.shortages[i];
      raw("<p>");
      put(fmt::format("{} after the start {} were asked for in “{}” and not to be had. {} were allocated then:",
                      timeText(each.time_ns - profile_.start_ns), bytesText(each.requested), profile_.path(device.events[each.event].scope),
                      bytesText(each.bytes)));
      raw("</p>\n");
      holders(each.holders, each.bytes);
      more(each.scopes, each.holders.size(), "scope");
    }
    more(device.shortages.size(), kMostShown, "failure");
  }

  void leaks(const MemoryDevice& device) {
    if (device.allocations == 0) return;
    raw("<h2>Not released at the end</h2>\n<p>");
    if (device.leaks.empty()) {
      raw("Everything that was allocated during the recording was released before its end.</p>\n");
      return;
    }
    put(fmt::format("{}, {} in all. Memory that the program still needs is listed here too: look for what should be gone.",
                    countText(device.leaks.size(), "allocation"), bytesText(device.leaked_bytes)));
    raw("</p>\n");
    holders(device.leaks_by_scope, device.leaked_bytes);
    more(device.leaks_by_scope.size(), kMostHolders, "scope");
    raw("<details><summary>Each of them</summary>\n<table><tr><th class=\"number\">bytes</th><th class=\"number\">allocated "
        "at</th><th>thread</th>"
        "<th>category</th><th>address</th><th>allocated in</th></tr>\n");
    for (size_t i = 0; i < std::min(device.leaks.size(), kMostBlocksShown); ++i) {
      const MemoryEvent& event = device.events[device.leaks[i]];
      raw(fmt::format("<tr><td class=\"number\">{}</td><td class=\"number\">{}</td><td>", bytesText(event.bytes),
                      timeText(event.time_ns - profile_.start_ns)));
      const MemoryThread& thread = profile_.threads[event.thread];
      put(thread.name.empty() ? fmt::format("{}", thread.system_id) : thread.name);
      raw(fmt::format("</td><td>{}</td><td><code>{:#x}</code></td>", toString(event.category), event.address));
      path(event.scope);
      raw("</tr>\n");
    }
    raw("</table>\n");
    more(device.leaks.size(), kMostBlocksShown, "allocation");
    raw("</details>\n");
  }

  void notes(const MemoryDevice& device) {
    for (const std::string& note : {unknownText(device), replacedText(device)}) {
      if (note.empty()) continue;
      raw("<p class=\"soft\">");
      put(note);
      raw("</p>\n");
    }
  }

  void data() {
    TextBuffer json;
    json += "{\"duration_us\": ";
    appendMicroseconds(json, profile_, profile_.end_ns);
    json += ", \"devices\": [";
    for (const MemoryDevice& device : profile_.devices) {
      if (&device != profile_.devices.data()) json += ", ";
      deviceData(json, device);
    }
    json += "]}";
    appendSafe(out_, json.view());
  }

  void deviceData(TextBuffer& json, const MemoryDevice& device) const {
    const MemorySeries series = seriesOf(profile_, device);
    json += "{\"sentence\": ";
    base::appendQuoted(json, sentence(device));
    json += ", \"peak\": {\"bytes\": ";
    base::appendInteger(json, device.peak.bytes);
    json += ", \"time_us\": ";
    appendMicroseconds(json, profile_, device.peak.time_ns);
    json += "}, \"out_of_memory_count\": ";
    base::appendInteger(json, device.shortages.size());
    json += ", \"out_of_memory\": [";
    for (size_t i = 0; i < std::min(device.shortages.size(), kMostMarks); ++i) {
      json += std::string_view(i == 0 ? "{\"time_us\": " : ", {\"time_us\": ");
      appendMicroseconds(json, profile_, device.shortages[i].time_ns);
      json += ", \"size\": ";
      base::appendInteger(json, device.shortages[i].requested);
      json += '}';
    }
    json += "],\n\"times\": ";
    appendTimes(json, profile_, series);
    json += ",\n\"by_category\": {\"grey\": \"unknown\", \"names\": [";
    for (const MemoryCategory category : kStackOrder) {
      if (category != kStackOrder.front()) json += ',';
      base::appendQuoted(json, toString(category));
    }
    json += "], \"sizes\": ";
    appendCategorySizes(json, series);
    json += "},\n\"by_scope\": {\"grey\": \"all other scopes\", \"names\": [";
    for (const uint32_t scope : series.scopes) {
      if (scope != series.scopes.front()) json += ',';
      base::appendQuoted(json, profile_.path(scope));
    }
    if (series.has_others) json += ",\"all other scopes\"";
    json += "], \"sizes\": ";
    appendScopeSizes(json, series);
    json += "}}";
  }

  const MemoryProfile& profile_;
  TextBuffer out_;
};

}  // namespace

Status writeMemoryHtml(const MemoryProfile& profile, base::OutputFile& file) { return file.write(Page(profile).write()); }

}  // namespace xsigma::profiler::analysis
