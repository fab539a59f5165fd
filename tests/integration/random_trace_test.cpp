// Random trees, names and clocks: whatever goes in, a strict parser of another language finds it in the file, to the nanosecond.
//
// XSIGMA_TEST_SEED and XSIGMA_TEST_CASES choose other cases than those that always run. What went in is written beside the trace, one line an
// event; random_trace_check.py compares.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "assembled.h"
#include "capture_reading.h"

namespace xsigma::profiler::test {
namespace {

namespace fs = std::filesystem;
using capture::OpDetails;

unsigned fromEnvironment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "x";
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

// One random capture, and what it should say.
class RandomCapture {
 public:
  explicit RandomCapture(unsigned seed) : random_(seed) {
    HandClock clock;
    // A rate, and pieces that differ from it by up to a hundredth.
    const uint64_t khz = 10'000 + random_() % 4'990'000;
    clock.ticks_per_ms = static_cast<uint32_t>(khz);
    clock.start_ticks = random_() >> 8;
    clock.start_monotonic_ns = static_cast<int64_t>(random_() >> 20);
    clock.start_realtime_ns = kHandRealtime + static_cast<int64_t>(random_() % 1'000'000'000'000'000);
    base::ClockPair at{clock.start_ticks, clock.start_monotonic_ns};
    for (uint64_t i = random_() % 10; i > 0; --i) {
      const uint64_t ns = 3'000'000 + random_() % 2'000'000'000;
      at.monotonic_ns += static_cast<int64_t>(ns);
      at.ticks += ns * (khz * (9900 + random_() % 200) / 10'000) / 1'000'000;
      clock.pairs.push_back(at);
    }
    start_ = clock.start_ticks;
    realtime_offset_ = clock.start_realtime_ns - clock.start_monotonic_ns;
    start_ns_ = clock.start_realtime_ns;
    for (uint64_t i = 1 + random_() % 12; i > 0; --i) names_.push_back(randomName());
    capture_ = std::make_unique<HandCapture>(clock, CaptureOptions{.policy = CapturePolicy::unbounded});
    for (uint64_t i = 1 + random_() % 4; i > 0; --i) fillThread();
    done_ = capture_->finish(last_ + 1 + random_() % 1000);
  }

  const Capture& capture() const { return done_; }

  // thread <tid> <name>
  // event <X|i|C> <tid> <start ns> <duration ns> <number> <number of its parent, or -1> <name> [<key>=<value>…], texts in hex
  void writeExpected(const std::string& path) const {
    std::ofstream out(path);
    out << "base " << start_ns_ / (int64_t{7'889'238} * 1'000'000'000) * (int64_t{7'889'238} * 1'000'000'000) << "\n";
    for (const auto& [tid, name] : threads_) out << "thread " << tid << " " << hex(name) << "\n";
    for (const Event& event : events_) {
      const int64_t start = toNs(event.begin);
      out << "event " << event.phase << " " << event.tid << " " << start << " " << (event.phase == 'X' ? toNs(event.end) - start : 0) << " "
          << event.number << " " << event.parent << " " << hex(event.name);
      for (const auto& [key, value] : event.metadata) out << " " << hex(key) << "=" << hex(value);
      out << "\n";
    }
  }

 private:
  struct Event {
    char phase;
    int tid;
    uint64_t begin;
    uint64_t end;
    int number;
    int parent;
    std::string name;
    std::vector<std::pair<std::string, std::string>> metadata;
  };

  int64_t toNs(uint64_t since_start) const { return done_.toMonotonicNs(start_ + since_start) + realtime_offset_; }

  std::string randomName() {
    switch (random_() % 9) {
      case 0: return "";
      case 1: return std::string(random_() % 2 == 0 ? 65536 : 3072 + random_() % 3, static_cast<char>('a' + random_() % 26));
      case 2: return "größe → 日本語 🚀 " + std::to_string(random_() % 100);
      case 3: return "quote \" backslash \\ slash / </script> \\u0041 " + std::to_string(random_() % 100);
      case 4:
      case 5: {  // any bytes
        std::string name(random_() % 40, '\0');
        for (char& c : name) c = static_cast<char>(random_());
        return name;
      }
      case 6: {  // control characters
        std::string name(random_() % 20, '\0');
        for (char& c : name) c = static_cast<char>(random_() % 0x20);
        return name;
      }
      default: return "aten::op" + std::to_string(random_() % 1000);
    }
  }
  std::string aName() {
    const std::string& name = names_[random_() % names_.size()];
    return name.size() < 1000 || random_() % 32 == 0 ? name : "long, but not here";  // or the files get too large to read in time
  }

  // Forwards by nothing, a little, or more than 32 bits.
  uint64_t step() {
    switch (random_() % 40) {
      case 0: return (uint64_t{1} << 32) + random_() % 1000;
      case 1: return random_() % 5'000'000'000;
      default: return random_() % 3 == 0 ? 0 : random_() % 5000;
    }
  }

  void fillThread() {
    const int tid = 1000 + static_cast<int>(threads_.size()) * 7;
    const std::string name = randomName().substr(0, 60);
    HandThread& thread = capture_->thread(tid, name);
    threads_.emplace_back(tid, name);
    uint64_t now = random_() % 1000;
    for (uint64_t i = random_() % 20; i > 0; --i) tree(thread, tid, now, -1, 0);
    last_ = std::max(last_, now);
  }

  void tree(HandThread& thread, int tid, uint64_t& now, int parent, int depth) {
    now += step();
    const int number = static_cast<int>(events_.size());
    events_.push_back({'X', tid, now, 0, number, parent, aName(), {}});
    const std::string name = events_.back().name;
    const uint64_t begin = now;
    begin_(thread, name, now);
    for (uint64_t i = random_() % 3; i > 0; --i) {
      const std::string key = "key " + std::to_string(random_() % 3);
      const std::string value = randomName().substr(0, random_() % 16 == 0 ? 8000 : 80);
      thread.metadata(key, value, now);
      auto& all = events_[static_cast<size_t>(number)].metadata;
      std::erase_if(all, [&](const auto& each) { return each.first == key; });
      all.emplace_back(key, value);
    }
    const uint64_t children = depth < 12 ? random_() % (depth < 2 ? 5 : 3) : 0;
    for (uint64_t i = 0; i < children; ++i) {
      if (random_() % 5 == 0) {
        now += step();
        events_.push_back({'i', tid, now, now, static_cast<int>(events_.size()), number, aName(), {}});
        thread.instant(events_.back().name, now);
      } else if (random_() % 6 == 0) {
        now += step();
        events_.push_back({'C', tid, now, now, static_cast<int>(events_.size()), number, aName(), {}});
        thread.counter(events_.back().name, now, 0.5);
      } else {
        tree(thread, tid, now, number, depth + 1);
      }
    }
    now += step();
    thread.end(name, begin, now);
    events_[static_cast<size_t>(number)].end = now;
  }

  void begin_(HandThread& thread, const std::string& name, uint64_t now) {
    OpDetails details;
    int64_t sizes[3];
    for (int64_t& size : sizes) size = static_cast<int64_t>(random_());
    const std::string text = randomName().substr(0, random_() % 16 == 0 ? 500 : 50);
    const TensorInfo tensor{.data = sizes,
                            .sizes = sizes,
                            .strides = random_() % 2 != 0 ? sizes : nullptr,
                            .dim = static_cast<int>(random_() % 4),
                            .dtype = "fl\"oat"};
    uint64_t bits = random_();
    double real;
    std::memcpy(&real, &bits, sizeof real);
    const InputValue list[] = {1, text};
    const InputValue inputs[] = {tensor, text, real, InputList(list), nullptr, true, static_cast<int64_t>(bits)};
    const std::string half = text.substr(0, text.size() / 2);
    const std::vector<KeywordValue> keywords = {{text, real}, {half, text}, {"Ev Idx", 5}};
    if (random_() % 4 == 0) details.sequence_number = static_cast<int64_t>(random_() >> 1);
    if (random_() % 4 == 0) details.forward_thread = 1 + random_() % 3;
    if (random_() % 4 == 0) details.inputs = InputList(inputs);
    if (random_() % 4 == 0) details.keyword_inputs = &keywords;
    thread.begin(name, now, details);
  }

  std::mt19937_64 random_;
  std::unique_ptr<HandCapture> capture_;
  Capture done_;
  std::vector<std::string> names_;
  std::vector<std::pair<int, std::string>> threads_;
  std::vector<Event> events_;
  uint64_t start_ = 0;
  uint64_t last_ = 0;
  int64_t realtime_offset_ = 0;
  int64_t start_ns_ = 0;
};

int shell(const std::string& command) { return std::system(command.c_str()); }

TEST(RandomTraces, SayToTheNanosecondWhatWentIn) {
  const unsigned first = fromEnvironment("XSIGMA_TEST_SEED", 20250101);
  const unsigned cases = fromEnvironment("XSIGMA_TEST_CASES", kSanitized ? 60 : 300);
  std::printf("seeds %u to %u\n", first, first + cases - 1);
  const std::string folder = exportPath("random");
  fs::remove_all(folder);
  fs::create_directory(folder);
  std::string sample;
  for (unsigned i = 0; i < cases; ++i) {
    SCOPED_TRACE("seed " + std::to_string(first + i));
    const RandomCapture random(first + i);
    const std::string name = folder + "/" + std::to_string(first + i);
    const std::string path = name + (i % 4 == 3 ? ".json.gz" : ".json");
    const Expected<ExportReport> report = exportCapture(random.capture(), path, {.workers = 1 + i % 4});
    ASSERT_TRUE(report.ok()) << report.message();
    random.writeExpected(name + ".expected");
    if (i % 10 == 0) sample += " " + path;
  }
  EXPECT_EQ(shell("python3 -B " XSIGMA_TEST_RANDOM_CHECK " " + folder), 0) << "the lines above name the seed";
  EXPECT_EQ(shell("python3 -B " XSIGMA_TEST_CHECKER + sample + " > " + folder + "/checker.txt || (grep -v ' 0 violations' " + folder +
                  "/checker.txt; exit 1)"),
            0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace xsigma::profiler::test
