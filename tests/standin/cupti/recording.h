// Recording: a file of records, as tests/device/record writes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../device/record/recording_format.h"

namespace xsigma::standin {

struct RecordedBuffer {
  uint32_t part = 0;
  std::vector<uint32_t> offsets;
  std::vector<uint8_t> bytes;
};

struct Recording {
  uint32_t version = 0;
  std::vector<RecordedBuffer> buffers;
  std::map<uint64_t, std::string> strings;  // by the pointer that records have to them
  std::map<std::pair<uint32_t, uint32_t>, std::string> calls;
  std::vector<recording::NodeEvent> nodes;
  std::vector<recording::ClockReading> clocks;
  std::string devices;
  std::string threads;
  std::string expected;

  // Empty: `why` says what is wrong.
  static std::optional<Recording> read(const std::string& path, std::string& why);
};

// The numbers of a flat JSON object.
std::map<std::string, int64_t> numbersOf(const std::string& json);

}  // namespace xsigma::standin
