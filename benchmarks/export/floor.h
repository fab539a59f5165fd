// The floor: the bytes of the trace, formatted from plain arrays by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace export_benchmark {

// What the lines of a trace need, and nothing else.
struct PlainEvents {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> duration_ns;
  std::vector<uint64_t> id;
  std::vector<int64_t> sequence_number;  // with_shapes only
  std::vector<int64_t> sizes;            // four each
  bool with_shapes = false;
};

PlainEvents plainEvents(size_t count, bool with_shapes);
// Writes the lines to `path`; how many bytes that were. No sync.
size_t writePlain(const PlainEvents& events, const std::string& path);

}  // namespace export_benchmark
