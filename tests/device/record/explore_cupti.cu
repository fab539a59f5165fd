// Asks CUPTI how it behaves where its manual is silent. Each question is an argument, so that one that crashes stops no other.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cupti_tools.h"

namespace {

__global__ void tiny() {}
__global__ void busy(unsigned long long nanoseconds) {
#if defined(__CUDA_ARCH__)
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
#endif
}

// What arrived since the last forget().
std::mutex mutex;
std::mutex pool_mutex;
std::vector<uint8_t*> pool;
std::map<int, int> per_kind;
std::vector<CUpti_ActivityKernel9> kernels;
std::vector<CUpti_ActivityAPI> calls;
std::vector<size_t> valid_sizes;
std::atomic<int> requests{0}, completions{0}, refused{0}, refuse_next{0};
std::atomic<bool> keep_records{true};
size_t buffer_bytes = size_t{8} << 20;

void CUPTIAPI requested(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  ++requests;
  *max_records = 0;
  *buffer = nullptr;
  *bytes = 0;
  if (refuse_next > 0) {
    --refuse_next;
    ++refused;
    return;
  }
  std::lock_guard lock(pool_mutex);
  if (pool.empty()) {
    auto* fresh = static_cast<uint8_t*>(std::aligned_alloc(4096, buffer_bytes));
    std::memset(fresh, 0, buffer_bytes);
    pool.push_back(fresh);
  }
  *buffer = pool.back();
  *bytes = buffer_bytes;
  pool.pop_back();
}

void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  ++completions;
  std::lock_guard lock(mutex);
  valid_sizes.push_back(valid);
  CUpti_Activity* record = nullptr;
  while (keep_records && valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    ++per_kind[int(record->kind)];
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) kernels.push_back(*reinterpret_cast<CUpti_ActivityKernel9*>(record));
    if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) calls.push_back(*reinterpret_cast<CUpti_ActivityAPI*>(record));
  }
  std::lock_guard pool_lock(pool_mutex);
  if (buffer) pool.push_back(buffer);
}

void forget() {
  std::lock_guard lock(mutex);
  per_kind.clear();
  kernels.clear();
  calls.clear();
  valid_sizes.clear();
  requests = completions = refused = 0;
}

std::string arrived() {
  std::lock_guard lock(mutex);
  std::string text = std::to_string(requests) + " buffers asked for, " + std::to_string(completions) + " completed, records by kind:";
  for (auto [kind, count] : per_kind) text += " " + std::to_string(kind) + "×" + std::to_string(count);
  return text + (per_kind.empty() ? " none" : "");
}

const char* question = "Q?";
void answer(const std::string& text) { std::printf("%s: %s\n", question, text.c_str()), std::fflush(stdout); }
std::string outcome(CUptiResult result) { return std::to_string(int(result)) + " " + resultText(result); }

void enable(std::initializer_list<CUpti_ActivityKind> kinds) {
  for (CUpti_ActivityKind kind : kinds) said(cuptiActivityEnable(kind), "cuptiActivityEnable");
}
void disable(std::initializer_list<CUpti_ActivityKind> kinds) {
  for (CUpti_ActivityKind kind : kinds) said(cuptiActivityDisable(kind), "cuptiActivityDisable");
}
void setUp() {
  SAID(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  SAID(cuptiActivityRegisterTimestampCallback(rawTicks));
  SAID(cuptiActivityRegisterCallbacks(requested, completed));
}
constexpr auto kKernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto kRuntime = CUPTI_ACTIVITY_KIND_RUNTIME;
constexpr auto kDriver = CUPTI_ACTIVITY_KIND_DRIVER;

void flush(uint32_t forced) { SAID(cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0)); }

double launchNs(int launches = 10000) {
  std::vector<double> costs;
  for (int round = 0; round < 5; ++round) {
    const uint64_t begin = clockNs(CLOCK_MONOTONIC);
    for (int launch = 0; launch < launches; ++launch) tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    costs.push_back(double(clockNs(CLOCK_MONOTONIC) - begin) / launches);
  }
  std::sort(costs.begin(), costs.end());
  return costs[2];
}

void cost(const char* when) {
  char text[160];
  std::snprintf(text, sizeof text, "%7.1f ns a launch %s", launchNs(), when);
  answer(text);
}

void checkRecords(const char* when) {
  flush(1);
  forget();
  keep_records = true;
  for (int launch = 0; launch < 1000; ++launch) tiny<<<1, 1>>>();
  SAID(cudaDeviceSynchronize());
  flush(1);
  int linked = 0, early = 0;
  {
    std::lock_guard lock(mutex);
    std::map<uint32_t, uint64_t> begun;
    for (const auto& call : calls) begun[call.correlationId] = call.start;
    for (const auto& kernel : kernels)
      if (auto at = begun.find(kernel.correlationId); at != begun.end()) ++linked, early += kernel.start < at->second;
  }
  answer(std::string(when) + ": of 1000 launches: " + arrived() + "; kernels with their call " + std::to_string(linked) +
         ", of them before it " + std::to_string(early));
  keep_records = false;
}

CUpti_SubscriberHandle subscriber = nullptr;
std::atomic<bool> finalize_now{false};
std::atomic<int> finalized{-1};
void CUPTIAPI onCall(void*, CUpti_CallbackDomain domain, CUpti_CallbackId, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite != CUPTI_API_EXIT || !finalize_now.exchange(false)) return;
  cuptiUnsubscribe(subscriber);
  finalized = int(cuptiFinalize());
}

void launchCost(bool in_callback) {
  keep_records = false;
  launchNs();
  cost("before CUPTI");
  setUp();
  SAID(cuptiSubscribe(&subscriber, onCall, nullptr));
  cost("with callbacks registered and a subscriber, no kind");
  enable({kKernel});
  cost("with kernel");
  enable({kRuntime});
  cost("with kernel + runtime");
  enable({kDriver});
  cost("with kernel + runtime + driver");
  answer("cuptiActivityEnableDriverApi(cuLaunchKernel, on) while all are on: " +
         outcome(enableCallsOf("cuptiActivityEnableDriverApi", 307, 1)));
  disable({kDriver, kRuntime});
  answer("cuptiActivityEnableRuntimeApi(cudaLaunchKernel 211, on): " + outcome(enableCallsOf("cuptiActivityEnableRuntimeApi", 211, 1)));
  cost("with kernel + runtime's cudaLaunchKernel alone");
  checkRecords("with kernel + cudaLaunchKernel alone");
  answer("cuptiActivityEnableRuntimeApi(cudaLaunchKernel 211, off): " + outcome(enableCallsOf("cuptiActivityEnableRuntimeApi", 211, 0)));
  answer("cuptiActivityEnableDriverApi(cuLaunchKernel 307, on): " + outcome(enableCallsOf("cuptiActivityEnableDriverApi", 307, 1)));
  cost("with kernel + the driver's cuLaunchKernel alone");
  checkRecords("with kernel + cuLaunchKernel alone");
  answer("cuptiActivityEnableDriverApi(cuLaunchKernel 307, off): " + outcome(enableCallsOf("cuptiActivityEnableDriverApi", 307, 0)));
  enable({kRuntime});
  for (CUpti_CallbackId cbid : {16u, 17u, 10u}) said(enableCallsOf("cuptiActivityEnableRuntimeApi", cbid, 0), "runtime call off");
  cost("with kernel + runtime less three calls");
  checkRecords("with kernel + runtime less three calls");
  disable({kKernel, kRuntime});
  flush(1);
  cost("after disabling all kinds");
  if (in_callback) {
    SAID(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
    finalize_now = true;
    tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    answer("cuptiUnsubscribe and cuptiFinalize from an exit callback: " + std::to_string(finalized));
    cost("after cuptiFinalize from an exit callback");
  } else {
    SAID(cuptiUnsubscribe(subscriber));
    cost("after cuptiUnsubscribe");
    answer("cuptiFinalize, plainly: " + outcome(cuptiFinalize()));
    cost("after cuptiFinalize");
  }
  for (int round = 1; round <= 2; ++round) {
    setUp();
    enable({kKernel, kRuntime});
    checkRecords(round == 1 ? "after a first restart" : "after a second restart");
    cost("with kernel + runtime, after a restart");
    disable({kKernel, kRuntime});
    flush(1);
    answer("cuptiFinalize again: " + outcome(cuptiFinalize()));
    cost("after another cuptiFinalize");
  }
}

uint64_t CUPTIAPI monotonicRaw() { return clockNs(CLOCK_MONOTONIC_RAW); }
uint64_t ticksOrCupti(int clock) {
  if (clock == 0) return rawTicks();
  if (clock == 1) return monotonicRaw();
  uint64_t now = 0;
  cuptiGetTimestamp(&now);
  return now;
}

// clock: 0 TSC, 1 CLOCK_MONOTONIC_RAW, 2 CUPTI's own.
void clocks(int clock, int seconds) {
  const char* names[] = {"TSC", "CLOCK_MONOTONIC_RAW", "CUPTI's own"};
  buffer_bytes = size_t{1} << 20;
  cudaFree(nullptr);
  SAID(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  if (clock < 2) SAID(cuptiActivityRegisterTimestampCallback(clock == 0 ? rawTicks : monotonicRaw));
  SAID(cuptiActivityRegisterCallbacks(requested, completed));
  enable({kKernel, kRuntime});
  tiny<<<1, 1>>>();
  SAID(cudaDeviceSynchronize());
  flush(1);
  forget();
  struct Second {
    int64_t launch_gap, sync_gap;
    int before, after, kernels;
  };
  std::vector<Second> result;
  const uint64_t ns_begin = clockNs(CLOCK_MONOTONIC_RAW), ticks_begin = ticksOrCupti(clock);
  for (int second = 0; second < seconds; ++second) {
    for (int launch = 0; launch < 100; ++launch) tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    flush(1);
    Second seen{INT64_MAX, INT64_MAX, 0, 0, 0};
    std::map<uint32_t, uint64_t> begun;
    uint64_t synchronized = 0, last_end = 0;
    for (const auto& call : calls) {
      if (call.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020) synchronized = call.end;
      begun[call.correlationId] = call.start;
    }
    for (const auto& kernel : kernels) {
      ++seen.kernels;
      last_end = std::max(last_end, kernel.end);
      const auto at = begun.find(kernel.correlationId);
      if (at == begun.end()) continue;
      const int64_t gap = int64_t(kernel.start - at->second);
      seen.launch_gap = std::min(seen.launch_gap, gap);
      seen.before += gap < 0;
    }
    seen.sync_gap = int64_t(synchronized - last_end);
    seen.after = seen.sync_gap < 0;
    result.push_back(seen);
    forget();
    std::this_thread::sleep_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(990));
  }
  const double ns_per_tick = double(clockNs(CLOCK_MONOTONIC_RAW) - ns_begin) / double(ticksOrCupti(clock) - ticks_begin);
  int before = 0, after = 0;
  for (size_t second = 0; second < result.size(); ++second) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%s, second %zu: least kernel.start - launch.start %.0f ns, sync.end - last kernel.end %.0f ns, kernels %d", names[clock],
                  second, double(result[second].launch_gap) * ns_per_tick, double(result[second].sync_gap) * ns_per_tick,
                  result[second].kernels);
    answer(text);
    before += result[second].before;
    after += result[second].after;
  }
  answer(std::string(names[clock]) + ": ns per tick " + std::to_string(ns_per_tick) + "; kernels before their launch " +
         std::to_string(before) + ", seconds in which a kernel ends after its sync " + std::to_string(after));
}

void stopWhileBusy() {
  setUp();
  for (bool synchronize_first : {true, false}) {
    enable({kKernel, kRuntime});
    tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    flush(1);
    forget();
    const uint64_t begin = clockNs(CLOCK_MONOTONIC);
    busy<<<1, 1>>>(300000000ull);
    disable({kKernel, kRuntime});
    const uint64_t off = clockNs(CLOCK_MONOTONIC);
    answer("disabling both kinds while a kernel of 300 ms runs took " + std::to_string((off - begin) / 1000) + " us");
    if (synchronize_first) {
      cudaDeviceSynchronize();
      flush(1);
      answer("after synchronising and a forced flush: " + arrived());
    } else {
      const uint64_t before = clockNs(CLOCK_MONOTONIC);
      flush(1);
      answer("forced flush while it runs took " + std::to_string((clockNs(CLOCK_MONOTONIC) - before) / 1000) + " us: " + arrived());
      for (const auto& kernel : kernels)
        answer("  a kernel record with start " + std::to_string(kernel.start) + " end " + std::to_string(kernel.end));
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      flush(0);
      answer("500 ms later, a plain flush, no synchronisation: " + arrived());
      flush(1);
      answer("… and a forced one: " + arrived());
      cudaDeviceSynchronize();
      flush(1);
      answer("… and after synchronising: " + arrived());
    }
  }
}

void nullBuffers() {
  setUp();
  buffer_bytes = 16384;
  auto dropped = [] {
    size_t count = 0;
    const CUptiResult result = cuptiActivityGetNumDroppedRecords(nullptr, 0, &count);
    return std::to_string(count) + " (" + outcome(result) + ")";
  };
  for (bool from_the_start : {false, true}) {
    forget();
    if (from_the_start) refuse_next = 1 << 30;
    enable({kKernel, kRuntime});
    tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    refuse_next = 1 << 30;
    for (int launch = 0; launch < 1000; ++launch) tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    flush(1);
    answer(std::string(from_the_start ? "null from the start" : "null after the first buffers") + ", 1001 launches: " + arrived() +
           "; refused " + std::to_string(refused) + "; dropped " + dropped() + "; asked again: " + dropped());
    refuse_next = 0;
    forget();
    for (int launch = 0; launch < 1000; ++launch) tiny<<<1, 1>>>();
    cudaDeviceSynchronize();
    flush(1);
    answer("buffers are back, 1000 more launches: " + arrived() + "; dropped " + dropped());
    disable({kKernel, kRuntime});
    flush(1);
  }
}

std::atomic<int> second_user_requests{0};
void CUPTIAPI requestedOfSecondUser(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  ++second_user_requests;
  requested(buffer, bytes, max_records);
}

void secondUser() {
  CUpti_SubscriberHandle second = nullptr;
  answer("first cuptiSubscribe: " + outcome(cuptiSubscribe(&subscriber, onCall, nullptr)));
  answer("second cuptiSubscribe: " + outcome(cuptiSubscribe(&second, onCall, nullptr)));
  setUp();
  answer("second cuptiActivityRegisterCallbacks before any kind: " +
         outcome(cuptiActivityRegisterCallbacks(requestedOfSecondUser, completed)));
  enable({kKernel});
  tiny<<<1, 1>>>();
  cudaDeviceSynchronize();
  flush(1);
  answer("requests that went to the second user: " + std::to_string(second_user_requests));
  answer("cuptiActivityRegisterCallbacks while a kind is on: " + outcome(cuptiActivityRegisterCallbacks(requested, completed)));
  answer("cuptiActivityRegisterTimestampCallback while a kind is on: " + outcome(cuptiActivityRegisterTimestampCallback(rawTicks)));
  second_user_requests = 0;
  forget();
  for (int launch = 0; launch < 10; ++launch) tiny<<<1, 1>>>();
  cudaDeviceSynchronize();
  flush(1);
  answer("after that: second user " + std::to_string(second_user_requests) + ", all: " + arrived());
  SAID(cuptiUnsubscribe(subscriber));
  answer("cuptiSubscribe after cuptiUnsubscribe: " + outcome(cuptiSubscribe(&subscriber, onCall, nullptr)));
}

void plainFlush() {
  setUp();
  enable({kKernel, kRuntime});
  for (int launch = 0; launch < 20; ++launch) tiny<<<1, 1>>>();
  answer("before synchronising, nothing flushed: " + arrived());
  cudaDeviceSynchronize();
  flush(0);
  answer("after synchronising, cuptiActivityFlushAll(0): " + arrived());
  flush(0);
  answer("again: " + arrived());
  flush(1);
  answer("forced: " + arrived());
  SAID(cuptiActivityFlushPeriod(50));
  forget();
  for (int launch = 0; launch < 20; ++launch) tiny<<<1, 1>>>();
  cudaDeviceSynchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  answer("300 ms after 20 launches with cuptiActivityFlushPeriod(50): " + arrived());
  SAID(cuptiActivityFlushPeriod(0));
}

void attributes(int zeroed, int per_thread) {
  keep_records = false;
  auto set = [](CUpti_ActivityAttribute which, int value, const char* name) {
    uint8_t now = 0;
    size_t size = sizeof now;
    CUptiResult result = cuptiActivityGetAttribute(which, &size, &now);
    answer(std::string(name) + " was " + std::to_string(now) + " (" + outcome(result) + ")");
    if (value < 0) return;
    now = uint8_t(value);
    size = sizeof now;
    result = cuptiActivitySetAttribute(which, &size, &now);
    answer(std::string(name) + " set to " + std::to_string(value) + ": " + outcome(result));
  };
  set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, zeroed, "zeroed");
  set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, per_thread, "per thread");
  setUp();
  enable({kKernel, kRuntime});
  launchNs();
  for (int thread_count : {1, 8}) {
    std::vector<double> costs;
    for (int round = 0; round < 3; ++round) {
      forget();
      const uint64_t begin = clockNs(CLOCK_MONOTONIC);
      std::vector<std::thread> threads;
      for (int thread = 0; thread < thread_count; ++thread)
        threads.emplace_back([] {
          for (int launch = 0; launch < 10000; ++launch) tiny<<<1, 1, 0, cudaStreamPerThread>>>();
          cudaStreamSynchronize(cudaStreamPerThread);
        });
      for (auto& thread : threads) thread.join();
      costs.push_back(double(clockNs(CLOCK_MONOTONIC) - begin) / (10000.0 * thread_count));
    }
    std::sort(costs.begin(), costs.end());
    answer(std::to_string(thread_count) + " threads: " + std::to_string(costs[1]) + " ns a launch of any thread; " + arrived());
  }
}

void versions() {
  uint32_t cupti = 0;
  int runtime = 0, driver = 0;
  SAID(cuptiGetVersion(&cupti));
  SAID(cudaRuntimeGetVersion(&runtime));
  SAID(cudaDriverGetVersion(&driver));
  Dl_info where{};
  dladdr(reinterpret_cast<void*>(&cuptiGetVersion), &where);
  answer("CUPTI " + std::to_string(cupti) + ", header " + std::to_string(CUPTI_API_VERSION) + ", runtime " + std::to_string(runtime) +
         ", driver " + std::to_string(driver) + ", library " + (where.dli_fname ? where.dli_fname : "?"));
  for (const char* name : {"cuptiActivityEnableRuntimeApi", "cuptiActivityEnableDriverApi", "cuptiActivityEnableCudaEventDeviceTimestamps",
                           "cuptiActivityEnableAllSyncRecords", "cuptiActivityEnableAllocationSource", "cuptiGetErrorMessage",
                           "cuptiSubscribe_v2", "cuptiActivityEnable_v2", "cuptiGetCudaEventId", "cuptiActivityEnableLatencyTimestamps"})
    answer(std::string(name) + (dlsym(RTLD_DEFAULT, name) ? " is there" : " is not there"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: explore_cupti Q1|Q1callback|Q2 CLOCK SECONDS|Q4|Q5|Q6|Q7|Q9 ZEROED PER_THREAD|Q11"), 2;
  question = argv[1];
  const std::string which = argv[1];
  const int first = argc > 2 ? std::atoi(argv[2]) : 0, second = argc > 3 ? std::atoi(argv[3]) : 0;
  if (which == "Q1") launchCost(false);
  if (which == "Q1callback") launchCost(true);
  if (which == "Q2") clocks(first, second);
  if (which == "Q4") stopWhileBusy();
  if (which == "Q5") nullBuffers();
  if (which == "Q6") secondUser();
  if (which == "Q7") plainFlush();
  if (which == "Q9") attributes(first, second);
  if (which == "Q11") versions();
  std::printf("%s: done\n", question);
  std::fflush(stdout);
  _exit(0);  // CUPTI may still hand over buffers while statics are destroyed
}
