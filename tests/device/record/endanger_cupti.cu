// Asks CUPTI what it does to a program where that matters most: does it crash it, does it hold it up? Each question is a program run of its own.
//
//     endanger_cupti graph BEFORE        a record per launch of a graph, which was instantiated before (1) or after (0) that was asked for
//     endanger_cupti crowd CALL THREADS  how long CALL (subscribe, dump, enable, callback, unsubscribe, finalize) takes beside so many threads that launch without a pause
//     endanger_cupti stale AGAIN         unsubscribe after another one has finalized, and (1) subscribed again
//     endanger_cupti leaving THREADS     finalize again and again while so many threads at a time launch once and end
//     endanger_cupti busy                finalize while a kernel runs: how long a launch of another thread takes
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cupti_tools.h"

namespace {

using Clock = std::chrono::steady_clock;

__global__ void tiny() {}
__global__ void waiting(volatile int* go) {
  while (*go == 0) {
  }
}

double msSince(Clock::time_point begun) { return std::chrono::duration<double, std::milli>(Clock::now() - begun).count(); }

void CUPTIAPI requested(uint8_t** buffer, size_t* bytes, size_t* most) {
  *bytes = size_t{1} << 20;
  *most = 0;
  *buffer = static_cast<uint8_t*>(std::calloc(1, *bytes));
}
void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) { std::free(buffer); }
void CUPTIAPI told(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

CUpti_SubscriberHandle subscriber = nullptr;

void attach() {
  SAID(cuptiSubscribe(&subscriber, told, nullptr));
  SAID(cuptiActivityRegisterCallbacks(requested, completed));
}

class Crowd {
 public:
  explicit Crowd(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { launchOn(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  ~Crowd() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void launchOn() {
    cudaStream_t stream = nullptr;
    SAID(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (!over_) {
      for (int i = 0; i < 50; ++i) tiny<<<1, 32, 0, stream>>>();
      cudaStreamSynchronize(stream);
    }
  }
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

void launchGraph(bool before) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  SAID(cudaStreamCreate(&stream));
  SAID(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  tiny<<<1, 32, 0, stream>>>();
  SAID(cudaStreamEndCapture(stream, &graph));
  if (before) SAID(cudaGraphInstantiate(&instance, graph, 0));
  attach();
  SAID(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  if (!before) SAID(cudaGraphInstantiate(&instance, graph, 0));
  SAID(cudaGraphLaunch(instance, stream));
  SAID(cudaStreamSynchronize(stream));
  std::printf("graph: instantiated %s: it was launched\n", before ? "before" : "after");
}

void callInCrowd(const std::string& call, int threads) {
  if (call != "subscribe") attach();
  if (call == "finalize") SAID(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  tiny<<<1, 32>>>();
  SAID(cudaDeviceSynchronize());
  std::atomic<double> took{-1};
  {
    const Crowd crowd(threads);
    if (call == "finalize") {
      SAID(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
      SAID(cuptiUnsubscribe(subscriber));
    }
    std::thread([&] {
      const Clock::time_point begun = Clock::now();
      if (call == "subscribe") attach();
      if (call == "dump") SAID(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_STREAM));
      if (call == "enable") SAID(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
      if (call == "callback") {
        SAID(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020));
      }
      if (call == "unsubscribe") SAID(cuptiUnsubscribe(subscriber));
      if (call == "finalize") SAID(cuptiFinalize());
      took = msSince(begun);
    }).detach();
    for (int i = 0; i < 50 && took < 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (took < 0) std::printf("crowd: %s beside %d threads: not back after 5 s\n", call.c_str(), threads);
  if (took >= 0) std::printf("crowd: %s beside %d threads: %.1f ms\n", call.c_str(), threads, took.load());
}

void unsubscribeStale(bool again) {
  attach();
  CUpti_SubscriberHandle other = nullptr;
  std::printf("stale: a second one subscribes: %s\n", resultText(cuptiSubscribe(&other, told, nullptr)));
  tiny<<<1, 32>>>();
  SAID(cudaDeviceSynchronize());
  SAID(cuptiFinalize());
  tiny<<<1, 32>>>();
  SAID(cudaDeviceSynchronize());
  if (again) {
    SAID(cuptiSubscribe(&other, told, nullptr));
    std::printf("stale: the next handle is %s\n", other == subscriber ? "the same" : "another");
  }
  std::printf("stale: unsubscribe after finalize: %s\n", resultText(cuptiUnsubscribe(subscriber)));
  if (again) std::printf("stale: unsubscribe of the other: %s\n", resultText(cuptiUnsubscribe(other)));
}

void finalizeWhileThreadsEnd(int threads) {
  std::atomic<bool> over{false};
  std::atomic<uint64_t> ended{0};
  std::vector<std::thread> starters;
  for (int i = 0; i < threads; ++i) {
    starters.emplace_back([&] {
      while (!over) {
        std::thread([] { tiny<<<1, 32>>>(); }).join();
        ++ended;
      }
    });
  }
  const Clock::time_point begun = Clock::now();
  int times = 0;
  for (; msSince(begun) < 10000; ++times) {
    attach();
    SAID(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    SAID(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    SAID(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME));
    SAID(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    SAID(cuptiUnsubscribe(subscriber));
    SAID(cudaDeviceSynchronize());
    SAID(cuptiFinalize());
  }
  std::printf("leaving: %d times, while %llu threads ended: no harm\n", times, static_cast<unsigned long long>(ended.load()));
  over = true;
  for (std::thread& starter : starters) starter.join();
}

void finalizeWhileBusy() {
  int* go = nullptr;
  cudaStream_t busy = nullptr;
  cudaStream_t other = nullptr;
  SAID(cudaHostAlloc(&go, sizeof *go, cudaHostAllocMapped));
  SAID(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
  SAID(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  *go = 0;
  attach();
  tiny<<<1, 1, 0, other>>>();
  SAID(cudaDeviceSynchronize());
  waiting<<<1, 1, 0, busy>>>(go);
  SAID(cuptiUnsubscribe(subscriber));
  std::thread leaving([] { SAID(cuptiFinalize()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::atomic<double> took{-1};
  std::thread launching([&] {
    const Clock::time_point begun = Clock::now();
    tiny<<<1, 1, 0, other>>>();
    took = msSince(begun);
  });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::printf("busy: a launch beside finalize, while a kernel ran: %s\n", took < 0 ? "not back after 1 s" : "came back");
  *go = 1;
  launching.join();
  leaving.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  const std::string call = argc > 2 ? argv[2] : "";
  SAID(cudaFree(nullptr));
  if (which == "graph") launchGraph(call == "1");
  if (which == "crowd") callInCrowd(call, argc > 3 ? std::atoi(argv[3]) : 8);
  if (which == "stale") unsubscribeStale(call == "1");
  if (which == "leaving") finalizeWhileThreadsEnd(argc > 2 ? std::atoi(argv[2]) : 4);
  if (which == "busy") finalizeWhileBusy();
  std::fflush(stdout);
  _exit(0);  // CUPTI may still hand over buffers while statics are destroyed
}
