#include "base/json_text.h"

#include <algorithm>
#include <array>

namespace xsigma::profiler::base {
namespace {

// Bytes that a JSON string takes as they are.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x7F; ++c) plain[static_cast<size_t>(c)] = c != '"' && c != '\\';
  return plain;
}();

bool isPlain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

// How many bytes the UTF-8 character at the start has; 0 if there is none.
size_t characterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool too_high = first == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_high ? 4 : 0;
  }
  return 0;
}

template <typename Text>
void appendControl(Text& out, unsigned char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  bool whole() {
    space();
    return value(0) && (space(), at_ == text_.size());
  }

 private:
  static constexpr int kDeepest = 256;

  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c || done()) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  void space() {
    while (!done() && (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t')) ++at_;
  }
  bool digits() {
    const size_t from = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > from;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (!done()) {
      const auto c = static_cast<unsigned char>(peek());
      if (c == '"') return ++at_, true;
      if (c < 0x20) return false;
      if (c == '\\') {
        ++at_;
        if (!escape()) return false;
      } else if (c < 0x80) {
        ++at_;
      } else {
        const size_t bytes = characterBytes(text_.substr(at_));
        if (bytes == 0) return false;
        at_ += bytes;
      }
    }
    return false;
  }
  bool escape() {
    if (take('u')) {
      for (int i = 0; i < 4; ++i, ++at_) {
        const char c = peek();
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return false;
      }
      return true;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    return !done() && kEscapes.find(text_[at_++]) != std::string_view::npos;
  }
  // After the opening bracket.
  template <typename Member>
  bool members(char close, Member member) {
    space();
    if (take(close)) return true;
    do {
      space();
      if (!member()) return false;
      space();
    } while (take(','));
    return take(close);
  }
  bool value(int depth) {
    if (depth > kDeepest) return false;
    if (take('[')) return members(']', [&] { return value(depth + 1); });
    if (take('{')) {
      std::vector<std::string_view> keys;
      const auto member = [&] {
        const size_t from = at_;
        if (!string()) return false;
        keys.push_back(text_.substr(from, at_ - from));
        return (space(), take(':')) && (space(), value(depth + 1));
      };
      return members('}', member) && differ(keys);
    }
    if (peek() == '"') return string();
    return word("true") || word("false") || word("null") || number();
  }

  static bool differ(std::vector<std::string_view>& keys) {
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

template <typename Text>
void appendQuoted(Text& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && isPlain(text[plain])) ++plain;
    out.append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text[0]);
    if (c < 0x80) {
      appendControl(out, c);
      text.remove_prefix(1);
      continue;
    }
    const size_t bytes = characterBytes(text);
    if (bytes == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      out.append(text.data(), bytes);
      text.remove_prefix(bytes);
    }
  }
  out += '"';
}

template <typename Text>
void appendUnsigned(Text& out, uint64_t value) {
  if (value <= static_cast<uint64_t>(INT64_MAX)) return appendInteger(out, value);
  out += '"';
  appendInteger(out, value);
  out += '"';
}

template <typename Text>
void appendReal(Text& out, double value) {
  if (!std::isfinite(value)) {
    out += std::string_view(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return;
  }
  char digits[40];
  // Large whole numbers with an exponent: readers would take them for integers that do not fit.
  constexpr double kExact = 9007199254740992.0;
  const std::to_chars_result end = std::abs(value) < kExact
                                       ? std::to_chars(digits, digits + sizeof digits, value)
                                       : std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
  out.append(digits, static_cast<size_t>(end.ptr - digits));
}

template void appendQuoted(std::string&, std::string_view);
template void appendQuoted(TextBuffer&, std::string_view);
template void appendUnsigned(std::string&, uint64_t);
template void appendUnsigned(TextBuffer&, uint64_t);
template void appendReal(std::string&, double);
template void appendReal(TextBuffer&, double);

bool isJson(std::string_view text) { return Checker(text).whole(); }

namespace {

// The text of the string that begins after `at`, which lies on its opening quote; `at` moves to the closing one.
std::string stringAt(std::string_view json, size_t& at) {
  std::string text;
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] != '\\' || at + 1 >= json.size()) {
      text += json[at];
      continue;
    }
    switch (const char c = json[++at]) {
      case 'n': text += '\n'; break;
      case 'r': text += '\r'; break;
      case 't': text += '\t'; break;
      case 'u': {
        unsigned code = 0;
        const std::string_view digits = json.substr(at + 1, 4);
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        text += static_cast<char>(code);  // control characters are all that is written so
        at += digits.size();
        break;
      }
      default: text += c;
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> jsonTexts(std::string_view array) {
  std::vector<std::string> texts;
  for (size_t at = 0; at < array.size(); ++at) {
    if (array[at] == '"') texts.push_back(stringAt(array, at));
  }
  return texts;
}

std::string memberText(std::string_view members, std::string_view key) {
  const std::string opening = quoted(key) + ": ";
  const size_t found = members.find(opening + '"');
  size_t at = found + opening.size();
  return found != std::string_view::npos ? stringAt(members, at) : std::string();
}

bool isJsonMembers(std::string_view text) {
  std::string object = "{";
  object.append(text).append("}");
  return isJson(object);
}

}  // namespace xsigma::profiler::base
