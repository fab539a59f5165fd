// JSON, written piece by piece into a std::string or a TextBuffer: strict whatever the values are.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"

namespace xsigma::profiler::base {

// With its quotes. Control characters are escaped; bytes that are no UTF-8 become U+FFFD.
template <typename Text>
void appendQuoted(Text& out, std::string_view text);
inline std::string quoted(std::string_view text) {
  std::string out;
  appendQuoted(out, text);
  return out;
}

template <typename Integer>
void appendInteger(TextBuffer& out, Integer value) {
  constexpr size_t kMostDigits = 24;
  char* const at = out.room(kMostDigits);
  if (value >= 0 && value < 10) {  // most sizes and flags
    *at = static_cast<char>('0' + value);
    return out.advance(1);
  }
  out.advance(static_cast<size_t>(std::to_chars(at, at + kMostDigits, value).ptr - at));
}
template <typename Integer>
void appendInteger(std::string& out, Integer value) {
  char digits[24];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, static_cast<size_t>(end.ptr - digits));
}

// Unsigned numbers that readers would take for negative ones, and those that are none at all, go in as text.
template <typename Text>
void appendUnsigned(Text& out, uint64_t value);
template <typename Text>
void appendReal(Text& out, double value);

// Processes and threads are numbers below 2^32 for every reader: without sign, and the lower half of those that are larger.
constexpr uint32_t readableId(int64_t id) noexcept {
  return static_cast<uint32_t>(id < 0 ? 0 - static_cast<uint64_t>(id) : static_cast<uint64_t>(id));
}

// Whether the text is one JSON value and nothing else; nesting deeper than 256 is refused, and so is a key that stands twice in an object.
bool isJson(std::string_view text);
// The same for the inside of an object: "key": value, …
bool isJsonMembers(std::string_view text);

// The texts of an array that these functions wrote.
std::vector<std::string> jsonTexts(std::string_view array);
// The value of a string member that these functions wrote, as it was; "" if there is none.
std::string memberText(std::string_view members, std::string_view key);

}  // namespace xsigma::profiler::base
