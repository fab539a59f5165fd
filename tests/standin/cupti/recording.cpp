#include "recording.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace xsigma::standin {
namespace {

using namespace recording;

// Takes values off the front; what is not there any more is zero, and `short_of` says so.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string_view take(size_t count) {
    if (count > rest_.size()) {
      short_of_ = true;
      count = rest_.size();
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string takeText() {
    const auto length = take<uint32_t>();
    return std::string(take(length));
  }
  template <typename T>
  std::vector<T> takeAll() {
    std::vector<T> values(rest_.size() / sizeof(T));
    std::memcpy(values.data(), rest_.data(), values.size() * sizeof(T));
    return values;
  }
  bool empty() const { return rest_.empty(); }
  bool shortOf() const { return short_of_; }

 private:
  std::string_view rest_;
  bool short_of_ = false;
};

RecordedBuffer bufferOf(Input& input) {
  const auto head = input.take<BufferHead>();
  RecordedBuffer buffer{head.part, {}, {}};
  for (uint32_t record = 0; record < head.records && !input.shortOf(); ++record) buffer.offsets.push_back(input.take<uint32_t>());
  const std::string_view bytes = input.take(head.bytes);
  buffer.bytes.assign(bytes.begin(), bytes.end());
  return buffer;
}

void readSection(uint32_t tag, std::string_view payload, Recording& into, bool& short_of) {
  Input input(payload);
  if (tag == kVersionTag) into.version = input.take<uint32_t>();
  if (tag == kBufferTag) into.buffers.push_back(bufferOf(input));
  if (tag == kStringsTag) {
    for (auto count = input.take<uint32_t>(); count > 0 && !input.shortOf(); --count) {
      const auto pointer = input.take<uint64_t>();
      into.strings[pointer] = input.takeText();
    }
  }
  if (tag == kCallsTag) {
    for (auto count = input.take<uint32_t>(); count > 0 && !input.shortOf(); --count) {
      const auto domain = input.take<uint32_t>();
      const auto cbid = input.take<uint32_t>();
      into.calls[{domain, cbid}] = input.takeText();
    }
  }
  if (tag == kNodesTag) into.nodes = input.takeAll<NodeEvent>();
  if (tag == kClocksTag) into.clocks = input.takeAll<ClockReading>();
  if (tag == kDevicesTag) into.devices = payload;
  if (tag == kThreadsTag) into.threads = payload;
  if (tag == kExpectedTag) into.expected = payload;
  short_of = short_of || input.shortOf();
}

}  // namespace

std::optional<Recording> Recording::read(const std::string& path, std::string& why) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    why = path + " cannot be opened";
    return {};
  }
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  Input input(all);
  if (input.take(sizeof kMagic) != std::string_view(kMagic, sizeof kMagic)) {
    why = path + " is no recording";
    return {};
  }
  Recording result;
  bool short_of = false;
  while (!input.empty() && !short_of) {
    const auto head = input.take<SectionHead>();
    const std::string_view payload = input.take(head.bytes);
    readSection(head.tag, payload, result, short_of);
    short_of = short_of || input.shortOf();
  }
  if (short_of) {
    why = path + " ends too early";
    return {};
  }
  return result;
}

std::map<std::string, int64_t> numbersOf(const std::string& json) {
  std::map<std::string, int64_t> numbers;
  for (size_t at = json.find('"'); at != std::string::npos; at = json.find('"', at + 1)) {
    const size_t end = json.find('"', at + 1);
    if (end == std::string::npos) break;
    const size_t value = json.find_first_not_of(": ", end + 1);
    if (value != std::string::npos && (json[value] == '-' || (json[value] >= '0' && json[value] <= '9')))
      numbers[json.substr(at + 1, end - at - 1)] = std::stoll(json.substr(value));
    at = value != std::string::npos && json[value] == '"' ? json.find('"', value + 1) : end;
    if (at == std::string::npos) break;
  }
  return numbers;
}

}  // namespace xsigma::standin
