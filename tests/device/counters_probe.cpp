// Tries hardware counters on a card through counters.h alone, and prints what came. Built and run by counters_probe.sh.
//
//   counters_probe             every scenario, each in a process of its own
//   counters_probe NAME        one of them, in this process
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/cupti/counters/counted_devices.h"
#include "backends/cupti/counters/counters.h"
#include "backends/cupti/counters/locked_output.h"
#include "backends/cupti/counters/range_session.h"
#include "probe_cuda.h"

namespace {

using namespace xsigma::profiler;
using namespace xsigma::profiler::backends::cupti;
using Metrics = std::vector<std::string>;

int failures = 0;
void expect(bool truth, const char* what) {
  std::printf("  %s %s\n", truth ? "ok  " : "FAIL", what);
  if (!truth) ++failures;
}

uint64_t hostNanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// What captures count in where they can: the processor's counter.
uint64_t hostTicks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
uint64_t (*host_clock)() noexcept = &hostNanoseconds;

// Keeps what it is given.
class Kept final : public BackendOutput {
 public:
  struct Activity {
    DeviceActivity as_put;
    std::string name;
    std::vector<double> values;
  };
  uint32_t text(std::string_view text) noexcept override {
    texts_.emplace_back(text);
    return static_cast<uint32_t>(texts_.size());
  }
  void put(const DeviceActivity& activity) noexcept override {
    Activity kept{activity, activity.name == 0 ? "" : texts_[activity.name - 1], {}};
    for (uint32_t i = 0; i < activity.value_count; ++i) kept.values.push_back(std::bit_cast<double>(activity.values[i]));
    activities.push_back(std::move(kept));
  }
  void clockPair(uint8_t, uint64_t device, uint64_t host) noexcept override { pairs.emplace_back(device, host); }
  void lost(DeviceLoss cause, uint64_t count) noexcept override { losses[cause] += count; }
  void row(int64_t process, int64_t thread, std::string_view name, int64_t) noexcept override {
    std::printf("  row %" PRId64 "/%" PRId64 " \"%.*s\"\n", process, thread, static_cast<int>(name.size()), name.data());
  }
  void property(std::string_view, std::string_view) noexcept override {}

  // By the first pair and the last, in ticks of the host.
  double hostTime(uint64_t device) const {
    if (pairs.size() < 2) return 0;
    const auto [first, first_host] = pairs.front();
    const auto [last, last_host] = pairs.back();
    const double slope = static_cast<double>(last_host - first_host) / static_cast<double>(last - first);
    return static_cast<double>(first_host) + (static_cast<double>(device) - static_cast<double>(first)) * slope;
  }

  std::vector<Activity> activities;
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  std::map<DeviceLoss, uint64_t> losses;

 private:
  std::vector<std::string> texts_;
};

const base::DynamicLibrary& library() {
  static const base::DynamicLibrary opened = [] {
    std::vector<std::string> candidates{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    if (const char* path = std::getenv("PROBE_CUPTI")) candidates.insert(candidates.begin(), path);
    return base::DynamicLibrary::open(candidates).value();
  }();
  return opened;
}

// The subscriber that a backend would be.
struct Subscriber {
  CUpti_SubscriberHandle handle = nullptr;
  std::atomic<CounterRun*> run = nullptr;
  std::atomic<int> to_print = 0;

  static void CUPTIAPI called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    auto& subscriber = *static_cast<Subscriber*>(self);
    if (domain != CUPTI_CB_DOMAIN_RESOURCE && subscriber.to_print.fetch_sub(1) > 0) {
      const auto& call = *static_cast<const CUpti_CallbackData*>(data);
      std::printf("  callback domain %d id %u %s %s context %p correlation %u symbol %s\n", domain, id,
                  call.callbackSite == CUPTI_API_ENTER ? "enter" : "exit ", call.functionName, static_cast<void*>(call.context),
                  call.correlationId, call.symbolName == nullptr ? "-" : call.symbolName);
    }
    if (CounterRun* const counting = subscriber.run.load()) counting->callback(domain, id, data);
  }
  template <typename Function>
  static Function* find(const char* name) {
    return library().function<Function>(name);
  }
  void attach(CounterRun* counting) {
    run = counting;
    const CUptiResult result = find<decltype(cuptiSubscribe)>("cuptiSubscribe")(&handle, &called, this);
    if (result != CUPTI_SUCCESS) std::printf("  cuptiSubscribe answered %d\n", result);
    enable(1);
  }
  void enable(uint32_t on) {
    for (const auto& [domain, id] : run.load()->callbacks()) {
      const CUptiResult result = find<decltype(cuptiEnableCallback)>("cuptiEnableCallback")(on, handle, domain, id);
      if (result != CUPTI_SUCCESS) std::printf("  cuptiEnableCallback(%u, %d, %u) answered %d\n", on, domain, id, result);
    }
  }
  void detach() {
    enable(0);
    run = nullptr;
    find<decltype(cuptiUnsubscribe)>("cuptiUnsubscribe")(handle);
  }
};

// Counting around a piece of program.
struct Counting {
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  std::unique_ptr<CounterRun> run;
  Subscriber subscriber;
  std::string refused;

  explicit Counting(Metrics metrics, bool per_kernel, std::chrono::microseconds interval = {}, int callbacks_to_print = 0,
                    size_t bytes = size_t{64} << 20) {
    BackendRequest request;
    request.metrics = std::move(metrics);
    request.metrics_per_kernel = per_kernel;
    request.sample_interval = interval;
    request.host_ticks = host_clock;
    request.buffer_bytes = bytes;
    request.process_id = getpid();
    const uint64_t begun = hostNanoseconds();
    auto started = startCounters({library()}, request, std::make_shared<LockedOutput>(kept));
    std::printf("  start took %.1f ms\n", static_cast<double>(hostNanoseconds() - begun) / 1e6);
    if (!started) {
      refused = started.message();
      std::printf("  refused: %s\n", refused.c_str());
      return;
    }
    run = std::move(*started);
    subscriber.to_print = callbacks_to_print;
    subscriber.attach(run.get());
  }
  bool finish(std::chrono::milliseconds allowed = std::chrono::seconds(10)) {
    if (run == nullptr) return false;
    const uint64_t a = hostNanoseconds();
    run->stop();
    const uint64_t b = hostNanoseconds();
    const bool drained = run->drain(std::chrono::steady_clock::now() + allowed);
    const uint64_t c = hostNanoseconds();
    subscriber.detach();
    run.reset();
    std::printf("  stop %.3f ms, drain %.1f ms (%s), %zu activities, %zu clock pairs, lost %" PRIu64 ", unreadable %" PRIu64 "\n",
                static_cast<double>(b - a) / 1e6, static_cast<double>(c - b) / 1e6, drained ? "all" : "not all", kept->activities.size(),
                kept->pairs.size(), kept->losses[DeviceLoss::buffers_full], kept->losses[DeviceLoss::unreadable]);
    return drained;
  }
  void print(size_t most = 12) const {
    for (size_t i = 0; i < kept->activities.size() && i < most; ++i) {
      const Kept::Activity& a = kept->activities[i];
      std::printf("    %-28s start %" PRIu64 " +%" PRIu64 " correlation %" PRIu64 ":", a.name.c_str(), a.as_put.start,
                  a.as_put.end - a.as_put.start, a.as_put.correlation);
      for (const double value : a.values) std::printf(" %g", value);
      std::printf("\n");
    }
  }
};

const Metrics kBlocks{"sm__ctas_launched.sum"};

void perKernel() {
  const probe::Card card;
  Counting counting(kBlocks, true, {}, 4);
  for (unsigned i = 1; i <= 6; ++i) card.launch(i % 2 == 0 ? card.beta : card.alpha, 10 * i);
  card.wait();
  counting.finish();
  counting.print();
  bool right = counting.kept->activities.size() == 6;
  for (unsigned i = 1; right && i <= 6; ++i) {
    const auto& a = counting.kept->activities[i - 1];
    right = a.name == (i % 2 == 0 ? "beta" : "alpha") && a.values == std::vector<double>{10.0 * i};
  }
  expect(right, "six kernels, by name, each with its number of blocks");
}

void manyKernels() {
  const probe::Card card;
  Counting counting(
      {"sm__ctas_launched.sum", "sm__cycles_active.avg", "dram__bytes_read.sum", "lts__t_sectors.sum", "smsp__inst_executed.sum",
       "l1tex__t_sectors.sum", "sm__warps_active.avg", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
      true);
  const uint64_t begun = hostNanoseconds();
  for (unsigned i = 1; i <= 300; ++i) card.launch(card.alpha, i);
  card.wait();
  std::printf("  %.3f ms a launch\n", static_cast<double>(hostNanoseconds() - begun) / 300e6);
  counting.finish();
  counting.print(3);
  bool right = counting.kept->activities.size() == 300;
  for (unsigned i = 1; right && i <= 300; ++i) right = counting.kept->activities[i - 1].values[0] == i;
  expect(right, "300 kernels over several images, with metrics of several passes");
}

void threads() {
  const probe::Card card;
  Counting counting(kBlocks, true);
  std::vector<std::thread> all;
  for (unsigned t = 0; t < 4; ++t) {
    all.emplace_back([&card, t] {
      probe::check(probe::driver()->cuCtxSetCurrent(card.context), "cuCtxSetCurrent");
      for (int i = 0; i < 40; ++i) card.launch(t % 2 == 0 ? card.alpha : card.beta, t % 2 == 0 ? 100 : 200);
    });
  }
  for (std::thread& thread : all) thread.join();
  card.wait();
  counting.finish();
  size_t wrong = 0;
  for (const auto& a : counting.kept->activities) wrong += a.values[0] != (a.name == "alpha" ? 100 : 200);
  std::printf("  %zu of %zu under another's name\n", wrong, counting.kept->activities.size());
  expect(counting.kept->activities.size() == 160 && wrong == 0, "160 kernels of four threads, none under another's name");
}

void lateContext() {
  Counting counting(kBlocks, true);
  const probe::Card card;
  for (unsigned i = 1; i <= 3; ++i) card.launch(card.alpha, i);
  card.wait();
  counting.finish();
  counting.print();
  expect(counting.kept->activities.size() == 3, "a context that came up after the start is counted");
}

void graph() {
  const probe::Card card;
  const probe::Driver& d = *probe::driver();
  CUstream stream = nullptr;
  CUgraph captured = nullptr;
  CUgraphExec ready = nullptr;
  probe::check(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  probe::check(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  for (unsigned i = 1; i <= 3; ++i) card.launch(card.alpha, 5 * i, stream);
  probe::check(d.cuStreamEndCapture(stream, &captured), "cuStreamEndCapture");
  probe::check(d.cuGraphInstantiateWithFlags(&ready, captured, 0), "cuGraphInstantiate");
  Counting counting(kBlocks, true);
  card.launch(card.beta, 7);
  probe::check(d.cuGraphLaunch(ready, stream), "cuGraphLaunch");
  probe::check(d.cuStreamSynchronize(stream), "cuStreamSynchronize");
  card.launch(card.beta, 8);
  card.wait();
  counting.finish();
  counting.print();
  double blocks = 0;
  for (const auto& a : counting.kept->activities) blocks += a.values[0];
  expect(blocks == 7 + 30 + 8, "all blocks of a graph and of the kernels beside it");
  expect(!counting.kept->activities.empty() && counting.kept->activities.back().name == "beta" &&
             counting.kept->activities.back().values[0] == 8,
         "the kernel after the graph has its own number");
}

// What the range profiler makes of graphs, without anything of ours around it.
void graphRaw() {
  const probe::Card card;
  const probe::Driver& d = *probe::driver();
  CUstream stream = nullptr;
  CUgraph captured = nullptr;
  CUgraphExec ready = nullptr;
  probe::check(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  probe::check(d.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  for (unsigned i = 1; i <= 3; ++i) card.launch(card.alpha, 5 * i, stream);
  probe::check(d.cuStreamEndCapture(stream, &captured), "cuStreamEndCapture");
  probe::check(d.cuGraphInstantiateWithFlags(&ready, captured, 0), "cuGraphInstantiate");
  const auto launchGraph = [&] {
    std::printf("    graph launch %d", d.cuGraphLaunch(ready, stream));
    std::printf(", sync %d\n", d.cuStreamSynchronize(stream));
  };
  Expected<CounterApi> api = CounterApi::open(library());
  auto initialize = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_Initialize_Params, pPriv);
  api->cuptiProfilerInitialize(&initialize);
  for (const bool per_kernel : {true, false}) {
    const MetricPlan plan = planRanges(*api, kBlocks, 0, card.context).value();
    RangeOptions options;
    options.per_kernel = per_kernel;
    options.host_ticks = &hostNanoseconds;
    auto session = RangeSession::open(*api, plan, options, card.context, 0).value();
    const auto round = [&](const char* what, const auto& work) {
      std::printf("  %s, %s\n", per_kernel ? "kernels" : "session", what);
      session->results().clear();
      session->begin();
      work();
      session->halt();
      session->decode();
      std::printf("    %zu ranges:", session->results().size());
      for (const RangeResult& result : session->results()) std::printf(" %g", result.values[0]);
      std::printf("; lost %" PRIu64 "; %s\n", session->lost(), session->trouble().c_str());
    };
    round("a kernel", [&] { card.launch(card.beta, 7); });
    round("a graph of 5, 10, 15", launchGraph);
    round("a kernel after it", [&] { card.launch(card.beta, 8); });
    round("kernel, graph, kernel", [&] {
      card.launch(card.beta, 7);
      launchGraph();
      card.launch(card.beta, 8);
    });
    round("a kernel after it", [&] { card.launch(card.beta, 9); });
  }
}

void wholeSession() {
  const probe::Card card;
  Counting counting(kBlocks, false);
  for (unsigned i = 1; i <= 10; ++i) card.launch(card.alpha, i);
  card.wait();
  if (counting.run != nullptr) counting.run->setCollecting(false);
  card.launch(card.alpha, 1000);
  card.wait();
  if (counting.run != nullptr) counting.run->setCollecting(true);
  for (unsigned i = 1; i <= 4; ++i) card.launch(card.beta, 100);
  card.wait();
  counting.finish();
  counting.print();
  const auto& got = counting.kept->activities;
  expect(got.size() == 2 && got[0].values[0] == 55 && got[1].values[0] == 400, "one range from on to off, each with its blocks");
}

void busyWindow(const char* title, std::chrono::microseconds interval, size_t least, bool own_timestamps) {
  std::printf("  -- %s\n", title);
  const probe::Card card;
  if (own_timestamps) {
    const auto set = Subscriber::find<decltype(cuptiActivityRegisterTimestampCallback)>("cuptiActivityRegisterTimestampCallback");
    host_clock = &hostTicks;
    std::printf("  timestamp callback: %d\n", set([]() -> uint64_t { return hostTicks(); }));
  }
  Counting counting({"sm__cycles_active.avg", "sm__ctas_launched.sum"}, false, interval);
  usleep(50'000);
  const uint64_t from_ns = hostNanoseconds();
  const uint64_t from = host_clock();
  card.launchSpin(200'000'000, 264);
  card.wait();
  const uint64_t to = host_clock();
  const double per_us = static_cast<double>(to - from) / (static_cast<double>(hostNanoseconds() - from_ns) / 1e3);
  usleep(50'000);
  counting.finish();
  counting.print(6);
  double first = 0;
  double last = 0;
  size_t samples = 0;
  size_t active = 0;
  double blocks = 0;
  uint64_t least_length = UINT64_MAX;
  uint64_t most_length = 0;
  for (const auto& a : counting.kept->activities) {
    if (a.name == "sm__ctas_launched.sum") blocks += a.values[0];
    if (a.name != "sm__cycles_active.avg") continue;
    ++samples;
    least_length = std::min(least_length, a.as_put.end - a.as_put.start);
    most_length = std::max(most_length, a.as_put.end - a.as_put.start);
    if (a.values[0] < 100) continue;
    if (active++ == 0) first = counting.kept->hostTime(a.as_put.start);
    last = counting.kept->hostTime(a.as_put.end);
  }
  std::printf("  first pair %" PRIu64 " = %" PRIu64 ", cupti %s\n", counting.kept->pairs.empty() ? 0 : counting.kept->pairs[0].first,
              counting.kept->pairs.empty() ? 0 : counting.kept->pairs[0].second, library().path().c_str());
  std::printf("  %zu samples of %" PRIu64 " to %" PRIu64 " ticks, %zu of them busy, %g blocks\n", samples, least_length, most_length,
              active, blocks);
  std::printf("  busy from %+.1f µs after the launch to %+.1f µs after the wait\n", (first - static_cast<double>(from)) / per_us,
              (last - static_cast<double>(to)) / per_us);
  expect(active >= least, "samples over the busy window");
  expect(std::abs(first - static_cast<double>(from)) < 5e3 * per_us && std::abs(last - static_cast<double>(to)) < 5e3 * per_us,
         "the busy samples lie where the kernel ran, within 5 ms");
}

void sampling() { busyWindow("1 ms", std::chrono::microseconds(1000), 150, false); }
void samplingFast() { busyWindow("50 µs", std::chrono::microseconds(50), 3000, false); }
void samplingOwnTimestamps() {
  busyWindow("1 ms, with the processor's counter as timestamp callback", std::chrono::microseconds(1000), 150, true);
}

void samplingAt(std::chrono::microseconds interval, size_t bytes) {
  const probe::Card card;
  Counting counting({"sm__cycles_active.avg", "sm__ctas_launched.sum"}, false, interval, 0, bytes);
  const uint64_t begun = hostNanoseconds();
  card.launchSpin(400'000'000, 264);
  card.wait();
  const double taken = static_cast<double>(hostNanoseconds() - begun) / 1e3 / static_cast<double>(interval.count());
  counting.finish();
  const double got = static_cast<double>(counting.kept->activities.size()) / 2;
  const auto lost = static_cast<double>(counting.kept->losses[DeviceLoss::buffers_full]);
  std::printf("  %lld µs, %zu MiB: %.0f samples and %.0f lost of about %.0f\n", static_cast<long long>(interval.count()), bytes >> 20, got,
              lost, taken);
  if (counting.refused.empty()) expect(got + lost > 0.8 * taken, "what is lost is counted");
}
void samplingOverflow() {
  samplingAt(std::chrono::microseconds(20), size_t{64} << 20);
  samplingAt(std::chrono::microseconds(10), size_t{64} << 20);
  samplingAt(std::chrono::microseconds(5), size_t{64} << 20);
  samplingAt(std::chrono::microseconds(2), size_t{8} << 20);
}

void refusals() {
  const probe::Card card;
  Counting unknown({"sm__ctas_lunched.sum"}, true);
  expect(unknown.refused.find("sm__ctas_launched") != std::string::npos, "a misspelt metric brings the right one");
  Counting incomplete({"sm__ctas_launched"}, true);
  expect(incomplete.refused.find("sm__ctas_launched.sum") != std::string::npos, "a metric without ending brings complete ones");
  Counting sampled({"dram__nonsense.avg"}, false, std::chrono::microseconds(1000));
  expect(!sampled.refused.empty(), "an unknown metric is refused for samples");
  const Metrics many{"sm__cycles_active.avg",
                     "dram__bytes_read.sum",
                     "lts__t_sectors.sum",
                     "smsp__inst_executed.sum",
                     "l1tex__t_sectors.sum",
                     "sm__warps_active.avg",
                     "sm__inst_executed_pipe_tensor.sum",
                     "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                     "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"};
  Counting passes(many, false);
  expect(passes.refused.find("passes") != std::string::npos, "too many passes for one range: how many, and what fits");
  Counting passes_sampled(many, false, std::chrono::microseconds(1000));
  expect(passes_sampled.refused.find("passes") != std::string::npos || passes_sampled.refused.find("known") != std::string::npos,
         "too many passes for samples");
  Counting both(kBlocks, true, std::chrono::microseconds(1000));
  expect(!both.refused.empty(), "samples and per kernel exclude each other");
}

void unprivileged() {
  if (FILE* parameters = std::fopen("/proc/driver/nvidia/params", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, parameters) != nullptr) {
      if (std::strstr(line, "Profil") != nullptr) std::printf("  driver: %s", line);
    }
    std::fclose(parameters);
  }
  if (setgid(65534) != 0 || setuid(65534) != 0) std::printf("  stays user %d\n", static_cast<int>(getuid()));
  const probe::Card card;
  Counting ranges(kBlocks, true);
  card.launch(card.alpha, 3);
  card.wait();
  ranges.finish();
  Counting samples(kBlocks, false, std::chrono::microseconds(1000));
  usleep(20'000);
  samples.finish();
}

void deadline() {
  const probe::Card card;
  Counting counting(kBlocks, false);
  card.launchSpin(2'000'000'000, 1);
  const uint64_t begun = hostNanoseconds();
  const bool all = counting.finish(std::chrono::milliseconds(200));
  const double took = static_cast<double>(hostNanoseconds() - begun) / 1e6;
  std::printf("  took %.1f ms\n", took);
  expect(!all || took < 250, "a drain with 200 ms ends then, whatever the device does");
  card.wait();
  sleep(1);
}

// Kernel records beside counters: a backend must know whether both can be had.
std::atomic<int> kernel_records = 0;
void besideRecords(const char* title, bool per_kernel, std::chrono::microseconds interval) {
  const probe::Card card;
  const auto call = [](CUptiResult result, const char* what) { std::printf("  %s: %d\n", what, result); };
  call(Subscriber::find<decltype(cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks")(
           [](uint8_t** buffer, size_t* size, size_t* most) {
             *size = 1 << 20;
             *most = 0;
             *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
           },
           [](CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
             CUpti_Activity* record = nullptr;
             const auto next = Subscriber::find<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");
             while (next(buffer, valid, &record) == CUPTI_SUCCESS) {
               if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
               ++kernel_records;
               const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel9*>(record);
               if (std::strcmp(kernel.name, "alpha") != 0) {
                 std::printf("  a record of %s, correlation %u, stream %u\n", kernel.name, kernel.correlationId, kernel.streamId);
               }
             }
             std::free(buffer);
           }),
       "register");
  call(Subscriber::find<decltype(cuptiActivityEnable)>("cuptiActivityEnable")(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "kernel records on");
  Counting counting(kBlocks, per_kernel, interval);
  for (unsigned i = 1; i <= 20; ++i) card.launch(card.alpha, i);
  card.launchSpin(20'000'000, 10);
  card.wait();
  usleep(20'000);
  const auto flush = Subscriber::find<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll");
  call(flush(1), "flush");
  std::printf("  %s: %d kernel records of 21 while counting\n", title, kernel_records.load());
  counting.finish();
  call(flush(1), "flush");
  std::printf("  %s: %d kernel records after\n", title, kernel_records.load());
  for (unsigned i = 1; i <= 5; ++i) card.launch(card.alpha, i);
  card.wait();
  call(flush(1), "flush");
  std::printf("  %s: %d kernel records after five more\n", title, kernel_records.load());
}
void recordsAndRanges() { besideRecords("ranges", true, {}); }
void recordsAndSession() { besideRecords("session", false, {}); }
void recordsAndSamples() { besideRecords("samples", false, std::chrono::microseconds(1000)); }

void costAfter() {
  const probe::Card card;
  const auto cost = [&card] {
    std::vector<double> all;
    for (int round = 0; round < 5; ++round) {
      const uint64_t begun = hostNanoseconds();
      for (int i = 0; i < 10'000; ++i) card.launch(card.alpha, 1);
      card.wait();
      all.push_back(static_cast<double>(hostNanoseconds() - begun) / 10'000);
    }
    std::sort(all.begin(), all.end());
    return all[2];
  };
  cost();
  const auto tell = [&cost](const char* when) { std::printf("  %.0f ns a launch %s\n", cost(), when); };
  const double before = cost();
  std::printf("  %.0f ns a launch before\n", before);
  {
    CUpti_SubscriberHandle handle = nullptr;
    Subscriber::find<decltype(cuptiSubscribe)>("cuptiSubscribe")(&handle, &Subscriber::called, nullptr);
    Subscriber::find<decltype(cuptiUnsubscribe)>("cuptiUnsubscribe")(handle);
  }
  tell("after somebody subscribed and unsubscribed");
  {
    Counting counting(kBlocks, true);
    card.launch(card.alpha, 1);
    card.wait();
    counting.finish();
  }
  tell("after ranges");
  auto deinitialize = XSIGMA_COUNTER_PARAMS(CUpti_Profiler_DeInitialize_Params, pPriv);
  std::printf("  deinitialize %d\n", Subscriber::find<decltype(cuptiProfilerDeInitialize)>("cuptiProfilerDeInitialize")(&deinitialize));
  tell("after cuptiProfilerDeInitialize");
  {
    Counting counting(kBlocks, false, std::chrono::microseconds(1000));
    tell("while sampling");
    counting.finish();
  }
  tell("after samples");
  const auto finalize = Subscriber::find<decltype(cuptiFinalize)>("cuptiFinalize");
  std::printf("  finalize %d\n", finalize());
  const double after = cost();
  std::printf("  %.0f ns a launch after cuptiFinalize\n", after);
  expect(after < before * 1.05, "after cuptiFinalize a launch costs what it cost before, within 5 %");
  {
    Counting counting(kBlocks, true);
    card.launch(card.alpha, 17);
    card.wait();
    counting.finish();
    expect(counting.kept->activities.size() == 1 && counting.kept->activities[0].values[0] == 17, "and counting works again");
  }
  std::printf("  finalize %d\n", finalize());
  tell("after the second cuptiFinalize");
}

// A launch through the runtime: whose callbacks come, and with which numbers.
void runtimeLaunch() {
  const probe::Card card;
  void* runtime = nullptr;
  for (const char* name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so"}) {
    if (runtime == nullptr) runtime = dlopen(name, RTLD_NOW);
  }
  if (runtime == nullptr) {
    std::printf("  skipped: no libcudart\n");
    return;
  }
  struct Dim {
    unsigned x, y, z;
  };
  const auto load = reinterpret_cast<int (*)(void**, const void*, void*, void**, unsigned, void*, void**, unsigned)>(
      dlsym(runtime, "cudaLibraryLoadData"));
  const auto get = reinterpret_cast<int (*)(void**, void*, const char*)>(dlsym(runtime, "cudaLibraryGetKernel"));
  const auto launch = reinterpret_cast<int (*)(const void*, Dim, Dim, void**, size_t, void*)>(dlsym(runtime, "cudaLaunchKernel"));
  if (load == nullptr || get == nullptr || launch == nullptr) {
    std::printf("  skipped: this libcudart has no cudaLibraryLoadData\n");
    return;
  }
  void* loaded = nullptr;
  void* kernel = nullptr;
  std::printf("  load %d", load(&loaded, probe::kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  std::printf(", get %d\n", get(&kernel, loaded, "alpha"));
  Counting counting(kBlocks, true, {}, 8);
  for (unsigned i = 1; i <= 3; ++i) std::printf("  launch %d\n", launch(kernel, {i, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr));
  card.wait();
  counting.finish();
  counting.print();
  expect(
      counting.kept->activities.size() == 3 && counting.kept->activities[2].values[0] == 3 && counting.kept->activities[2].name == "alpha",
      "kernels launched through the runtime, by name");
}

struct Scenario {
  const char* name;
  void (*run)();
};
constexpr Scenario kScenarios[] = {
    {"per_kernel", perKernel},
    {"many_kernels", manyKernels},
    {"threads", threads},
    {"late_context", lateContext},
    {"graph", graph},
    {"graph_raw", graphRaw},
    {"runtime", runtimeLaunch},
    {"session", wholeSession},
    {"sampling", sampling},
    {"sampling_fast", samplingFast},
    {"sampling_own_timestamps", samplingOwnTimestamps},
    {"sampling_overflow", samplingOverflow},
    {"refusals", refusals},
    {"deadline", deadline},
    {"records_ranges", recordsAndRanges},
    {"records_session", recordsAndSession},
    {"records_samples", recordsAndSamples},
    {"cost_after", costAfter},
    {"unprivileged", unprivileged},
};

}  // namespace

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (probe::driver() == nullptr) {
    std::printf("skipped: there is no NVIDIA driver here\n");
    return 77;
  }
  if (count > 1) {
    for (const Scenario& scenario : kScenarios) {
      if (std::strcmp(scenario.name, arguments[1]) == 0) {
        alarm(60);
        scenario.run();
        return failures == 0 ? 0 : 1;
      }
    }
    std::printf("no scenario %s\n", arguments[1]);
    return 2;
  }
  int bad = 0;
  for (const Scenario& scenario : kScenarios) {
    std::printf("== %s\n", scenario.name);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", arguments[0], scenario.name, nullptr);
      _exit(126);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("  FAIL ended by signal %d\n", WTERMSIG(status));
    if (status != 0) ++bad;
  }
  std::printf("%d of %zu scenarios failed\n", bad, std::size(kScenarios));
  return bad == 0 ? 0 : 1;
}
