// TextBuffer: text that grows at its end and is used again; cheaper than a string where a line is made of many small pieces.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace xsigma::profiler::base {

class TextBuffer {
 public:
  void clear() noexcept { size_ = 0; }
  size_t size() const noexcept { return size_; }
  void resize(size_t shorter) noexcept { size_ = shorter; }
  void erase(size_t from, size_t count) noexcept {
    if (from + count > size_) return;
    std::memmove(data_.get() + from, data_.get() + from + count, size_ - from - count);
    size_ -= count;
  }
  std::string_view view() const noexcept { return {data_.get(), size_}; }

  TextBuffer& operator+=(char c) {
    *room(1) = c;
    ++size_;
    return *this;
  }
  // A literal: its length is known, so that copying it is a few moves.
  template <size_t N>
  TextBuffer& operator+=(const char (&text)[N]) {
    std::memcpy(room(N - 1), text, N - 1);
    size_ += N - 1;
    return *this;
  }
  TextBuffer& operator+=(std::string_view text) {
    append(text.data(), text.size());
    return *this;
  }
  void append(const char* text, size_t length) {
    std::memcpy(room(length), text, length);
    size_ += length;
  }
  // Appends what stands at `from` already.
  void repeat(size_t from, size_t length) {
    char* const at = room(length);
    std::memcpy(at, data_.get() + from, length);
    size_ += length;
  }
  // Where so many characters may be written; advance() makes them count.
  char* room(size_t length) {
    if (capacity_ - size_ < length) [[unlikely]] grow(length);
    return data_.get() + size_;
  }
  void advance(size_t length) noexcept { size_ += length; }

 private:
  void grow(size_t length) {
    constexpr size_t kLeast = 4096;
    const size_t wanted = (size_ + length) * 2 + kLeast;
    std::unique_ptr<char[]> larger(new char[wanted]);
    if (size_ != 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
    capacity_ = wanted;
  }

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace xsigma::profiler::base
