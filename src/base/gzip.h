// Gzip in pieces that several threads make at once: deflated one by one, joined to a single member.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace xsigma::profiler::base {

// A stretch of text, deflated so that the next one can follow it.
struct GzipPiece {
  std::string bytes;
  uint32_t crc = 0;
  uint64_t length = 0;
};

// One per thread; as fast as gzip -1.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(Deflater&&) noexcept;
  Deflater& operator=(Deflater&&) noexcept;

  void deflate(std::string_view text, GzipPiece& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What goes around the pieces: head(), the pieces in order, tail().
class GzipFrame {
 public:
  static std::string head();
  void add(const GzipPiece& piece);
  std::string tail() const;

 private:
  uint32_t crc_ = 0;
  uint64_t length_ = 0;
};

}  // namespace xsigma::profiler::base
