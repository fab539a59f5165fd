#include "base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace xsigma::profiler::base {

struct Deflater::State {
  z_stream stream{};
  ~State() { deflateEnd(&stream); }
};

Deflater::Deflater() : state_(std::make_unique<State>()) {
  constexpr int kRawWindow = -15;
  constexpr int kMemory = 8;
  if (deflateInit2(&state_->stream, Z_BEST_SPEED, Z_DEFLATED, kRawWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
}
Deflater::~Deflater() = default;
Deflater::Deflater(Deflater&&) noexcept = default;
Deflater& Deflater::operator=(Deflater&&) noexcept = default;

void Deflater::deflate(std::string_view text, GzipPiece& piece) {
  z_stream& stream = state_->stream;
  constexpr size_t kFlushBytes = 16;
  piece.bytes.resize(deflateBound(&stream, text.size()) + kFlushBytes);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.next_out = reinterpret_cast<Bytef*>(piece.bytes.data());
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // zlib counts with 32 bits
  size_t out_left = piece.bytes.size();
  for (size_t in_left = text.size(); in_left != 0 || text.empty();) {
    const size_t in = std::min(in_left, kMostAtOnce);
    const size_t out = std::min(out_left, 2 * kMostAtOnce);
    stream.avail_in = static_cast<uInt>(in);
    stream.avail_out = static_cast<uInt>(out);
    if (::deflate(&stream, in == in_left ? Z_SYNC_FLUSH : Z_NO_FLUSH) != Z_OK || stream.avail_in != 0)
      throw std::runtime_error("zlib could not deflate");
    out_left -= out - stream.avail_out;
    in_left -= in;
    if (text.empty()) break;
  }
  piece.bytes.resize(piece.bytes.size() - out_left);
  piece.crc = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  piece.length = text.size();
  deflateReset(&stream);
}

std::string GzipFrame::head() {
  return {'\x1f', '\x8b', '\x08', 0, 0, 0, 0, 0, '\x04', '\x03'};  // deflate, no name, no time, fastest, Unix
}

void GzipFrame::add(const GzipPiece& piece) {
  crc_ = static_cast<uint32_t>(crc32_combine(crc_, piece.crc, static_cast<z_off_t>(piece.length)));
  length_ += piece.length;
}

std::string GzipFrame::tail() const {
  std::string bytes{'\x03', 0};  // an empty last block
  for (const uint32_t word : {crc_, static_cast<uint32_t>(length_)}) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  return bytes;
}

}  // namespace xsigma::profiler::base
