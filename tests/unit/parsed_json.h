// A strict reader of JSON, which shares no code with the library that writes it. Throws std::runtime_error for anything that is not JSON.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xsigma::profiler::parsed {

struct Json {
  enum class Kind { null, boolean, number, text, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string text;  // of a number: its digits
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  bool has(std::string_view key) const {
    for (const auto& member : members) {
      if (member.first == key) return true;
    }
    return false;
  }
  // Null if there is none.
  const Json& operator[](std::string_view key) const {
    static const Json none;
    for (const auto& member : members) {
      if (member.first == key) return member.second;
    }
    return none;
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json whole() {
    Json value = read();
    blanks();
    if (at_ != text_.size()) fail("there is more");
    return value;
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw std::runtime_error(std::string("not JSON at byte ") + std::to_string(at_) + ": " + why + ": " +
                             std::string(text_.substr(at_, 40)));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail("something else was expected");
  }

  Json read() {
    blanks();
    Json value;
    if (peek() == '{') {
      value.kind = Json::Kind::object;
      list('}', [&] {
        blanks();
        std::string key = string();
        if (value.has(key)) fail("a key comes twice");
        blanks();
        expect(":");
        value.members.emplace_back(std::move(key), read());
      });
    } else if (peek() == '[') {
      value.kind = Json::Kind::array;
      list(']', [&] { value.items.push_back(read()); });
    } else if (peek() == '"') {
      value.kind = Json::Kind::text;
      value.text = string();
    } else if (take("true")) {
      value.kind = Json::Kind::boolean;
      value.boolean = true;
    } else if (take("false")) {
      value.kind = Json::Kind::boolean;
    } else if (!take("null")) {
      number(value);
    }
    return value;
  }
  template <typename Item>
  void list(char closing, Item item) {
    ++at_;
    blanks();
    if (peek() == closing) {
      ++at_;
      return;
    }
    while (true) {
      item();
      blanks();
      if (peek() == closing) break;
      expect(",");
    }
    ++at_;
  }
  void digits() {
    const size_t before = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (at_ == before) fail("a digit was expected");
  }
  void number(Json& value) {
    const size_t before = at_;
    take("-");
    if (!take("0")) digits();
    if (take(".")) digits();
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      digits();
    }
    value.kind = Json::Kind::number;
    value.text = text_.substr(before, at_ - before);
    value.number = std::strtod(value.text.c_str(), nullptr);
  }
  std::string string() {
    expect("\"");
    std::string out;
    while (peek() != '"') {
      if (at_ >= text_.size()) fail("a text does not end");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a text");
      ++at_;
      if (c != '\\') {
        out += c;
        continue;
      }
      const char escape = peek();
      ++at_;
      switch (escape) {
        case '"':
        case '\\':
        case '/': out += escape; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': unicode(out); break;
        default: fail("no such escape");
      }
    }
    ++at_;
    return out;
  }
  void unicode(std::string& out) {
    const std::string digits(text_.substr(at_, 4));
    if (digits.size() != 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      fail("four hexadecimal digits were expected");
    at_ += 4;
    const unsigned long code = std::strtoul(digits.c_str(), nullptr, 16);
    if (code >= 0x80) fail("this reader knows escapes of ASCII only: the writer keeps UTF-8 as it is");
    out += static_cast<char>(code);
  }

  std::string_view text_;
  size_t at_ = 0;
};

inline Json json(std::string_view text) { return JsonReader(text).whole(); }
inline Json jsonFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("there is no file " + path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return json(text);
}

// The events of a Chrome trace with that name; of that phase, if one is given.
inline std::vector<Json> traceEvents(const Json& trace, std::string_view name, std::string_view phase = {}) {
  std::vector<Json> found;
  for (const Json& each : trace["traceEvents"].items) {
    if (each["name"].text == name && (phase.empty() || each["ph"].text == phase)) found.push_back(each);
  }
  return found;
}

}  // namespace xsigma::profiler::parsed
