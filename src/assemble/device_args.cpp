#include "assemble/device_args.h"

#include <bit>

#include "base/json_text.h"
#include "capture/device_codec.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::assemble {
namespace {

static_assert(kArgInteger == 1 && kArgReal == 2 && kArgText == 3 && kArgRate == 4);
bool isValue(char c) { return c >= kArgInteger && c <= kArgRate; }

// Where in its JSON a form is, character after character.
class Place {
 public:
  void pass(char c) {
    if (in_text_) {
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_text_ = true;
    } else {
      depth_ += c == '[' || c == '{' ? 1 : 0;
      depth_ -= c == ']' || c == '}' ? 1 : 0;
    }
  }
  bool inText() const { return in_text_; }
  bool betweenArgs(char c) const { return c == ',' && !in_text_ && depth_ == 0; }

 private:
  bool in_text_ = false;
  bool escaped_ = false;
  int depth_ = 0;
};

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Values stand by themselves: outside of texts, and with nothing beside them that they could run into or that would make a key of them.
bool valuesStandAlone(std::string_view form) {
  Place place;
  char before = ',';
  for (size_t i = 0; i < form.size(); ++i) {
    if (isValue(form[i])) {
      size_t next = i + 1;
      while (next < form.size() && isBlank(form[next])) ++next;
      const char after = next < form.size() ? form[next] : ',';
      const bool begins = before == ':' || before == ',' || before == '[';
      const bool ends = after == ',' || after == ']' || after == '}';
      if (place.inText() || !begins || !ends) return false;
    }
    place.pass(form[i]);
    if (!isBlank(form[i])) before = form[i];
  }
  return true;
}

void appendValue(std::string& out, char kind, int64_t value, int64_t duration_ns, const capture::Tables& tables) {
  switch (kind) {
    case kArgInteger: return base::appendInteger(out, value);
    case kArgReal: return base::appendReal(out, std::bit_cast<double>(value));
    case kArgRate: return base::appendReal(out, duration_ns > 0 ? static_cast<double>(value) / static_cast<double>(duration_ns) : 0.0);
    default: {
      const capture::Tables::ResolvedSite* const text = tables.site(static_cast<uint32_t>(value));
      base::appendQuoted(out, text != nullptr ? text->name : std::string_view());
    }
  }
}

// Where the last argument ends that is over by then.
size_t lastWhole(std::string_view args, size_t most) {
  Place place;
  size_t whole = 0;
  for (size_t i = 0; i <= most && i < args.size(); ++i) {
    if (place.betweenArgs(args[i])) whole = i;
    place.pass(args[i]);
  }
  return whole;
}

}  // namespace

bool isSoundForm(std::string_view form) {
  if (!valuesStandAlone(form)) return false;
  std::string example = R"("Captured by External id": 0, "Captured in": 0, "starts before its launch": 0, "args cut": 0, "CallFrom": 0, )";
  for (const char c : form) example += isValue(c) ? '0' : c;
  return base::isJsonMembers(example);
}

std::string deviceArgs(std::string_view form, std::string_view packed_values, int64_t duration_ns, const capture::Tables& tables,
                       size_t most, bool& cut) {
  std::string out;
  capture::DeviceValues values(packed_values);
  while (!form.empty() && out.size() <= most) {
    size_t plain = 0;
    while (plain < form.size() && !isValue(form[plain])) ++plain;
    out.append(form.data(), plain);
    if (plain < form.size()) appendValue(out, form[plain++], values.next(), duration_ns, tables);
    form.remove_prefix(plain);
  }
  cut = out.size() > most;
  if (cut) out.resize(lastWhole(out, most));
  return out;
}

}  // namespace xsigma::profiler::assemble
