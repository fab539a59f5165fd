// Pieces deflated apart are one gzip file for every reader.
#include "base/gzip.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

namespace xsigma::profiler::base {
namespace {

std::string join(const std::vector<std::string>& pieces) {
  std::string bytes = GzipFrame::head();
  GzipFrame frame;
  Deflater deflater;
  for (const std::string& text : pieces) {
    GzipPiece piece;
    deflater.deflate(text, piece);
    EXPECT_EQ(piece.length, text.size());
    frame.add(piece);
    bytes += piece.bytes;
  }
  return bytes + frame.tail();
}

// With checks of CRC and length; "<bad>" if they, or the bytes, are wrong, or if anything follows.
std::string unzip(const std::string& bytes) {
  constexpr int kGzipWindow = 15 + 16;
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, kGzipWindow), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::vector<char> buffer(1 << 16);
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  const bool sound = result == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  return sound ? out : "<bad>";
}

std::string noise(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(Gzip, PiecesJoinToOneFile) {
  const std::vector<std::string> pieces = {"{\n\"traceEvents\": [", std::string(300'000, 'x'), noise(100'000, 1), "]}\n"};
  EXPECT_EQ(unzip(join(pieces)), pieces[0] + pieces[1] + pieces[2] + pieces[3]);
}

TEST(Gzip, EmptyPiecesAndNoPiecesAreFine) {
  EXPECT_EQ(unzip(join({})), "");
  EXPECT_EQ(unzip(join({"", "", ""})), "");
  EXPECT_EQ(unzip(join({"", "a", "", "b", ""})), "ab");
}

TEST(Gzip, WhatDoesNotCompressStillFits) {
  for (const size_t bytes : {1u, 100u, 4096u, 1u << 20}) EXPECT_EQ(unzip(join({noise(bytes, 7)})), noise(bytes, 7)) << bytes;
}

TEST(Gzip, ManySmallPiecesKeepTheirOrder) {
  std::vector<std::string> pieces;
  std::string all;
  for (int i = 0; i < 1000; ++i) all += pieces.emplace_back(std::to_string(i) + ",");
  EXPECT_EQ(unzip(join(pieces)), all);
}

TEST(Gzip, AWrongByteIsNoticed) {
  std::string bytes = join({"some text, some text"});
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // of the checksum
  EXPECT_EQ(unzip(bytes), "<bad>");
}

TEST(Gzip, OtherReadersTakeItAsAFile) {
  const std::string path = testing::TempDir() + "gzip_test_" + std::to_string(getpid()) + ".gz";
  const std::string text = "größe " + std::string(5000, 'y');
  std::ofstream(path, std::ios::binary) << join({text, "", "end"});
  gzFile file = gzopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  std::string read(text.size() + 100, '\0');
  const int bytes = gzread(file, read.data(), static_cast<unsigned>(read.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  read.resize(static_cast<size_t>(std::max(bytes, 0)));
  EXPECT_EQ(read, text + "end");
  const std::string python = "python3 -c 'import gzip, sys; sys.exit(not gzip.open(sys.argv[1]).read().endswith(b\"yend\"))' " + path;
  EXPECT_EQ(std::system(python.c_str()), 0);
  EXPECT_EQ(std::system(("gzip -t " + path).c_str()), 0);
  unlink(path.c_str());
}

}  // namespace
}  // namespace xsigma::profiler::base
