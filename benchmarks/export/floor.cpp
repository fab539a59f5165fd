#include "floor.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace export_benchmark {
namespace {

constexpr size_t kFlush = size_t{1} << 20;

// As little as text can take: copies and digits.
class Lines {
 public:
  explicit Lines(const std::string& path) : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)), buffer_(kFlush + 4096) {
    if (file_ < 0) std::abort();
  }
  ~Lines() { close(file_); }

  void text(std::string_view text) {
    std::memcpy(buffer_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  template <typename Integer>
  void number(Integer value) {
    char* const at = buffer_.data() + used_;
    used_ += static_cast<size_t>(std::to_chars(at, at + 24, value).ptr - at);
  }
  void microseconds(int64_t ns) {
    number(ns / 1000);
    const auto rest = static_cast<int>(ns % 1000);
    const char digits[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10), static_cast<char>('0' + rest % 10)};
    text({digits, sizeof digits});
  }
  void endLine() {
    if (used_ >= kFlush) flush();
  }
  size_t flush() {
    if (write(file_, buffer_.data(), used_) != static_cast<ssize_t>(used_)) std::abort();
    written_ += used_;
    used_ = 0;
    return written_;
  }

 private:
  int file_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  size_t written_ = 0;
};

void shapes(Lines& lines, const PlainEvents& events, size_t i) {
  const int64_t* const sizes = &events.sizes[i * 4];
  lines.text(", \"Sequence number\": ");
  lines.number(events.sequence_number[i]);
  lines.text(", \"Fwd thread id\": 0, \"Input Dims\": [[");
  lines.number(sizes[0]);
  lines.text(", ");
  lines.number(sizes[1]);
  lines.text("], [");
  lines.number(sizes[2]);
  lines.text(", ");
  lines.number(sizes[3]);
  lines.text("]], \"Input Strides\": [[], []], \"Input type\": [\"float\", \"float\"], \"Concrete Inputs\": [\"\", \"\"]");
}

}  // namespace

PlainEvents plainEvents(size_t count, bool with_shapes) {
  PlainEvents events;
  events.with_shapes = with_shapes;
  for (size_t i = 0; i < count; ++i) {
    events.start_ns.push_back(3'864'891'257'972'483 + static_cast<int64_t>(i) * 61);
    events.duration_ns.push_back(20 + static_cast<int64_t>(i % 37));
    events.id.push_back(i + 1);
    if (!with_shapes) continue;
    events.sequence_number.push_back(static_cast<int64_t>(i));
    events.sizes.insert(events.sizes.end(), {64, 32, 32, 16});
  }
  return events;
}

size_t writePlain(const PlainEvents& events, const std::string& path) {
  Lines lines(path);
  const int process = getpid();
  for (size_t i = 0; i < events.id.size(); ++i) {
    lines.text(events.with_shapes ? ",\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": "
                                  : ",\n{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"benchmark scope\", \"pid\": ");
    lines.number(process);
    lines.text(", \"tid\": ");
    lines.number(process);
    lines.text(", \"ts\": ");
    lines.microseconds(events.start_ns[i]);
    lines.text(", \"dur\": ");
    lines.microseconds(events.duration_ns[i]);
    lines.text(", \"args\": {\"External id\": ");
    lines.number(events.id[i]);
    lines.text(", \"Record function id\": ");
    lines.number(events.id[i]);
    lines.text(", \"Ev Idx\": ");
    lines.number(i);
    if (events.with_shapes) shapes(lines, events, i);
    lines.text("}}");
    lines.endLine();
  }
  return lines.flush();
}

}  // namespace export_benchmark
