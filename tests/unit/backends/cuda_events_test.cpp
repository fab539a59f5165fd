// Device time by events around scopes, with a fake device.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "fake_stubs.h"
#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

using namespace std::chrono_literals;
using test::FakeStubs;
using test::KeptOutput;

Backend& eventBackend() {
  for (Backend* const each : allBackends()) {
    if (each->name() == "cuda_events") return *each;
  }
  throw ProfilerError("this build has no backend of that name");
}

auto soon() { return std::chrono::steady_clock::now() + 30s; }

// A session of this thread and of those that join, and the backend beside it.
class CudaEvents : public testing::Test {
 protected:
  CudaEvents() {
    setenv("XSIGMA_PROFILER_CLOCK", "monotonic", 1);  // the capture's ticks are the test's
    registerCUDAMethods(&stubs_);
    enableProfiler(ProfilerConfig(ProfilerState::KINETO), {ActivityType::CPU});
  }
  ~CudaEvents() override {
    stubs_.hang(false);
    stubs_.stick(false);
    run_ = nullptr;
    if (profilerEnabled()) disableProfiler();
    registerCUDAMethods(nullptr);
    setCurrentCudaStream(nullptr);
    unsetenv("XSIGMA_PROFILER_CLOCK");
  }

  void start() {
    BackendRequest request;
    request.host_ticks = test::monotonicTicks;
    request.process_id = getpid();
    run_ = std::move(eventBackend().start(request, output_).value());
  }
  bool finish() {
    run_->stop();
    return run_->drain(soon());
  }
  void work(int64_t ns) { stubs_.now_ns += ns; }

  FakeStubs& stubs_ = test::keptStubs();
  std::shared_ptr<KeptOutput> output_ = std::make_shared<KeptOutput>();
  std::unique_ptr<BackendRun> run_;
};

TEST_F(CudaEvents, AScopeTakesTheTimeBetweenItsTwoEvents) {
  start();
  {
    XSIGMA_PROFILE_SCOPE("gemm");
    work(42'000);
  }
  ASSERT_TRUE(finish());
  ASSERT_EQ(output_->works.size(), 1u);
  const DeviceActivity& gemm = output_->works[0];
  EXPECT_EQ(output_->nameOf(gemm), "gemm");
  EXPECT_EQ(gemm.end - gemm.start, 42'000u);
  EXPECT_EQ(gemm.process_id, 0);
  EXPECT_EQ(gemm.type, libkineto::ActivityType::CONCURRENT_KERNEL);
}

TEST_F(CudaEvents, TheCallThatLinksIsWhereTheScopeBegins) {
  start();
  {
    XSIGMA_PROFILE_SCOPE("outer");
    XSIGMA_PROFILE_SCOPE("inner");
    work(1000);
  }
  ASSERT_TRUE(finish());
  std::map<std::string, uint64_t> begins;
  disableProfiler()->capture().forEachRecord([&](const CaptureRecord& record) {
    if (record.kind == RecordKind::scope_begin) begins[std::string(record.name)] = record.ticks;
  });
  ASSERT_EQ(output_->calls.size(), 2u);
  for (const DeviceActivity& call : output_->calls) {
    const auto work = std::find_if(output_->works.begin(), output_->works.end(),
                                   [&](const DeviceActivity& each) { return each.correlation == call.correlation; });
    ASSERT_NE(work, output_->works.end());
    EXPECT_EQ(call.start, begins.at(output_->nameOf(*work)));
    EXPECT_EQ(call.thread_id, gettid());
    EXPECT_EQ(call.process_id, getpid());
  }
}

TEST_F(CudaEvents, WorkInsideAScopeNestsInIt) {
  start();
  {
    XSIGMA_PROFILE_SCOPE("outer");
    work(2'000);
    {
      XSIGMA_PROFILE_SCOPE("inner");
      work(3'000);
    }
    work(5'000);
  }
  ASSERT_TRUE(finish());
  const DeviceActivity outer = output_->named("outer").at(0);
  const DeviceActivity inner = output_->named("inner").at(0);
  EXPECT_EQ(outer.end - outer.start, 10'000u);
  EXPECT_EQ(inner.start - outer.start, 2'000u);
  EXPECT_EQ(outer.end - inner.end, 5'000u);
  EXPECT_EQ(outer.thread_id, inner.thread_id);
}

TEST_F(CudaEvents, ThreadsThatAreNotRecordedAreNotTimed) {
  start();
  std::thread([this] {
    XSIGMA_PROFILE_SCOPE("elsewhere");
    work(1000);
  }).join();
  {
    XSIGMA_PROFILE_SCOPE("here");
    work(1000);
  }
  ASSERT_TRUE(finish());
  EXPECT_TRUE(output_->named("elsewhere").empty());
  EXPECT_EQ(output_->named("here").size(), 1u);
}

TEST_F(CudaEvents, EveryStreamOfAThreadHasARow) {
  start();
  int streams[2];
  for (int& stream : streams) {
    setCurrentCudaStream(&stream);
    XSIGMA_PROFILE_SCOPE("on a stream");
    work(1000);
  }
  ASSERT_TRUE(finish());
  const std::vector<DeviceActivity> works = output_->named("on a stream");
  ASSERT_EQ(works.size(), 2u);
  EXPECT_NE(works[0].thread_id, works[1].thread_id);
  EXPECT_EQ(output_->rows.count(works[0].thread_id), 1u);
  EXPECT_EQ(output_->rows.count(works[1].thread_id), 1u);
}

TEST_F(CudaEvents, TheCurrentStreamIsTheThreadsOwn) {
  int stream = 0;
  setCurrentCudaStream(&stream);
  void* seen = &stream;
  std::thread([&] { seen = currentCudaStream(); }).join();
  EXPECT_EQ(currentCudaStream(), &stream);
  EXPECT_EQ(seen, nullptr);
}

TEST_F(CudaEvents, EventsAreUsedAgainAndNoneIsLeft) {
  start();
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 20; ++j) {
      XSIGMA_PROFILE_SCOPE("short");
      work(100);
    }
    std::this_thread::sleep_for(10ms);  // the worker returns them meanwhile
  }
  EXPECT_LT(stubs_.made, 1500);  // far fewer where the worker gets its turn
  ASSERT_TRUE(finish());
  EXPECT_EQ(output_->works.size(), 1000u);
  EXPECT_EQ(stubs_.records, 2000);
  EXPECT_EQ(stubs_.made, 0);
}

TEST_F(CudaEvents, WhatFindsNoEventIsCounted) {
  constexpr uint64_t kScopes = 20'000;
  start();
  stubs_.hang(true);
  for (uint64_t i = 0; i < kScopes; ++i) {
    XSIGMA_PROFILE_SCOPE("too many");
  }
  stubs_.hang(false);
  ASSERT_TRUE(finish());
  const uint64_t lost = output_->losses[static_cast<size_t>(DeviceLoss::buffers_full)];
  EXPECT_GE(output_->works.size(), 8000u);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(output_->works.size() + lost, kScopes);
  EXPECT_EQ(disableProfiler()->capture().ledger().recorded, kScopes);  // the scopes themselves are all there
}

TEST_F(CudaEvents, AThreadWithoutADeviceIsNoLoss) {
  stubs_.has_device = false;
  start();
  { XSIGMA_PROFILE_SCOPE("on the host"); }
  ASSERT_TRUE(finish());
  EXPECT_TRUE(output_->works.empty());
  EXPECT_EQ(output_->losses[0] + output_->losses[1], 0u);
}

TEST_F(CudaEvents, ABrokenDeviceIsCountedAndTheProgramGoesOn) {
  start();
  int ran = 0;
  for (int i = 0; i < 10; ++i) {
    XSIGMA_PROFILE_SCOPE("broken");
    stubs_.fails = i >= 5;  // those of the middle begin well
    ++ran;
  }
  stubs_.fails = false;
  ASSERT_TRUE(finish());
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(output_->works.size(), 5u);
  EXPECT_EQ(output_->losses[static_cast<size_t>(DeviceLoss::unreadable)], 5u);
}

TEST_F(CudaEvents, ADeviceThatHangsHoldsNobodyBack) {
  start();
  stubs_.hang(true);
  { XSIGMA_PROFILE_SCOPE("first"); }
  { XSIGMA_PROFILE_SCOPE("second"); }
  run_->stop();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(run_->drain(before + 100ms));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  const size_t put = output_->works.size();
  stubs_.hang(false);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(output_->works.size(), put);  // it woke up too late
}

TEST_F(CudaEvents, AThreadThatTheDeviceKeepsInsideAScopeHoldsNobodyBack) {
  start();
  stubs_.stick(true);
  std::thread stuck([] {
    enableProfilerInChildThread();
    { XSIGMA_PROFILE_SCOPE("stuck"); }
    disableProfilerInChildThread();
  });
  while (stubs_.records == 0) std::this_thread::yield();
  std::atomic<bool> over{false};
  std::thread rescue([&] {  // fails the test, instead of hanging it
    for (int i = 0; i < 150 && !over; ++i) std::this_thread::sleep_for(100ms);
    stubs_.stick(false);
  });
  run_->stop();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(run_->drain(before + 100ms));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  over = true;
  rescue.join();
  stuck.join();
  EXPECT_TRUE(output_->works.empty());
}

TEST_F(CudaEvents, AThreadThatComesBackWhenTheRunIsGoneFindsNothingOfIt) {
  start();
  stubs_.hang(true);
  { XSIGMA_PROFILE_SCOPE("first"); }
  while (stubs_.asked == 0) std::this_thread::yield();  // the worker is with the device
  std::promise<void> inside;
  std::promise<void> leave;
  std::thread stuck([&] {
    enableProfilerInChildThread();
    {
      XSIGMA_PROFILE_SCOPE("stuck");
      inside.set_value();
      leave.get_future().wait();
    }
    disableProfilerInChildThread();
  });
  inside.get_future().wait();
  const int before = stubs_.records;
  stubs_.stick(true);
  leave.set_value();
  while (stubs_.records == before) std::this_thread::yield();  // it ends its scope, and is kept there
  run_->stop();
  EXPECT_FALSE(run_->drain(std::chrono::steady_clock::now() + 100ms));
  run_ = nullptr;
  stubs_.hang(false);
  std::this_thread::sleep_for(100ms);  // what the thread is in must not be gone now: memory checkers see it
  stubs_.stick(false);
  stuck.join();
  EXPECT_TRUE(output_->works.empty());
  start();
  {
    XSIGMA_PROFILE_SCOPE("next run");
    work(3000);
  }
  ASSERT_TRUE(finish());
  ASSERT_EQ(output_->works.size(), 1u);
  EXPECT_EQ(output_->nameOf(output_->works[0]), "next run");
}

TEST_F(CudaEvents, ARunThatHangsIsNotMixedIntoTheNext) {
  start();
  stubs_.hang(true);
  { XSIGMA_PROFILE_SCOPE("first run"); }
  while (stubs_.asked == 0) std::this_thread::yield();
  run_->stop();
  EXPECT_FALSE(run_->drain(std::chrono::steady_clock::now() + 100ms));
  output_ = std::make_shared<KeptOutput>();
  start();  // while the worker of the first still waits for the device
  {
    XSIGMA_PROFILE_SCOPE("second run");
    work(3000);
  }
  stubs_.hang(false);
  ASSERT_TRUE(finish());
  ASSERT_EQ(output_->works.size(), 1u);
  EXPECT_EQ(output_->nameOf(output_->works[0]), "second run");
}

TEST_F(CudaEvents, NothingIsTimedWhileCollectionIsOff) {
  start();
  for (const char* const name : {"before", "between", "after"}) {
    run_->setCollecting(std::string(name) != "between");
    RecordFunction function(RecordScope::USER_SCOPE);
    function.before(name);
    work(1000);
  }
  ASSERT_TRUE(finish());
  EXPECT_EQ(output_->named("before").size(), 1u);
  EXPECT_EQ(output_->named("between").size(), 0u);
  EXPECT_EQ(output_->named("after").size(), 1u);
}

TEST_F(CudaEvents, NothingIsWatchedAfterTheEnd) {
  start();
  ASSERT_TRUE(hasGlobalCallbacks());
  ASSERT_TRUE(finish());
  EXPECT_FALSE(hasGlobalCallbacks());
  const int records = stubs_.records;
  { XSIGMA_PROFILE_SCOPE("later"); }
  EXPECT_EQ(stubs_.records, records);
}

TEST_F(CudaEvents, AScopeThatIsOpenAtTheEndHarmsNoLaterRun) {
  start();
  {
    XSIGMA_PROFILE_SCOPE("open");
    ASSERT_TRUE(finish());
    run_ = nullptr;
    start();
  }
  {
    XSIGMA_PROFILE_SCOPE("second run");
    work(7000);
  }
  ASSERT_TRUE(finish());
  EXPECT_TRUE(output_->named("open").empty());
  ASSERT_EQ(output_->named("second run").size(), 1u);
  EXPECT_EQ(output_->named("second run")[0].end - output_->named("second run")[0].start, 7000u);
}

TEST_F(CudaEvents, OneRunAtATime) {
  start();
  BackendRequest request;
  request.host_ticks = test::monotonicTicks;
  request.process_id = getpid();
  const auto second = eventBackend().start(request, output_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().code(), StatusCode::busy);
}

TEST_F(CudaEvents, ManyThreadsAtOnceLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kScopes = 1500;
  start();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      enableProfilerInChildThread();
      for (int j = 0; j < kScopes; ++j) {
        XSIGMA_PROFILE_SCOPE("parallel");
        work(10);
      }
      disableProfilerInChildThread();
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(finish());
  EXPECT_EQ(output_->named("parallel").size() + output_->losses[0], static_cast<size_t>(kThreads * kScopes));
  EXPECT_EQ(output_->losses[0], 0u);
  EXPECT_EQ(output_->rows.size(), 1u + kThreads);  // the device and a row a thread
}

// The whole way: a session that asks for it, and what its user gets to see.
class GpuFallback : public testing::Test {
 protected:
  GpuFallback() { registerCUDAMethods(&stubs_); }
  ~GpuFallback() override { registerCUDAMethods(nullptr); }

  std::unique_ptr<ProfilerResult> profiled() {
    enableProfiler(ProfilerConfig(ProfilerState::KINETO_GPU_FALLBACK), {ActivityType::CPU, ActivityType::CUDA});
    {
      XSIGMA_PROFILE_SCOPE("outer");
      stubs_.now_ns += 2'000;
      for (int i = 0; i < 3; ++i) {
        XSIGMA_PROFILE_SCOPE("inner");
        stubs_.now_ns += 10'000;
      }
    }
    return disableProfiler();
  }

  FakeStubs& stubs_ = test::keptStubs();
};

TEST_F(GpuFallback, TheTraceHasASliceOfTheDeviceForEachScopeLinkedToIt) {
  const auto result = profiled();
  std::map<uint64_t, std::string> scopes;  // by the number that others refer to
  std::multimap<std::string, int64_t> device_ns;
  for (const KinetoEvent& event : result->events()) {
    if (event.activityType() == static_cast<uint8_t>(libkineto::ActivityType::USER_ANNOTATION))
      scopes[event.correlationId()] = event.name();
  }
  for (const KinetoEvent& event : result->events()) {
    if (event.activityType() != static_cast<uint8_t>(libkineto::ActivityType::CONCURRENT_KERNEL)) continue;
    device_ns.emplace(event.name(), event.durationNs());
    EXPECT_EQ(scopes[event.linkedCorrelationId()], event.name());
    EXPECT_EQ(event.deviceType(), DeviceType::CUDA);
  }
  EXPECT_EQ(device_ns.count("inner"), 3u);
  ASSERT_EQ(device_ns.count("outer"), 1u);
  EXPECT_NEAR(static_cast<double>(device_ns.find("outer")->second), 32'000.0, 100.0);
}

TEST_F(GpuFallback, AnEventTellsItsDeviceTime) {
  const auto result = profiled();
  for (const KinetoEvent& event : result->events()) {
    const bool scope = event.activityType() == static_cast<uint8_t>(libkineto::ActivityType::USER_ANNOTATION);
    EXPECT_EQ(event.cudaElapsedUs(), !scope ? -1 : event.name() == "outer" ? 32 : 10) << event.name();
  }
}

TEST_F(GpuFallback, TheTableHasTheDeviceTimeOfEachScope) {
  const KeyAverages averages = profiled()->keyAverages();
  EXPECT_NEAR(static_cast<double>(averages.at("inner").device_total_ns), 30'000.0, 100.0);
  EXPECT_NEAR(static_cast<double>(averages.at("outer").device_total_ns), 32'000.0, 100.0);
}

TEST_F(GpuFallback, WithoutADeviceTheScopesAreThereAndTheReasonIs) {
  registerCUDAMethods(nullptr);
  if (eventBackend().available()) GTEST_SKIP() << "there is a CUDA device here";
  const auto result = profiled();
  EXPECT_EQ(result->events().size(), 4u);
  std::string devices;
  for (const CaptureProperty& property : result->capture().properties()) {
    if (property.key == "xsigmaDevices") devices = property.json;
  }
  EXPECT_NE(devices.find("libcuda.so.1"), std::string::npos) << devices;
}

TEST(ProfilerStubsTest, WithoutMethodsTheyThrowAndSaySo) {
  for (const ProfilerStubs* const stubs : {ittStubs(), privateuse1Stubs()}) {
    EXPECT_FALSE(stubs->enabled());
    EXPECT_THROW(stubs->mark("here"), ProfilerError);
    EXPECT_THROW(stubs->rangePop(), ProfilerError);
  }
  try {
    ittStubs()->rangePush("x");
    FAIL() << "no exception";
  } catch (const ProfilerError& error) {
    EXPECT_NE(std::string(error.what()).find("ITT used in profiler but not enabled"), std::string::npos) << error.what();
  }
}

TEST(ProfilerStubsTest, RegisteredMethodsAreGivenUntilTheyAreTakenBack) {
  FakeStubs& stubs = test::keptStubs();
  const ProfilerStubs* const before = ittStubs();
  registerITTMethods(&stubs);
  registerPrivateUse1Methods(&stubs);
  EXPECT_EQ(ittStubs(), &stubs);
  EXPECT_EQ(privateuse1Stubs(), &stubs);
  registerITTMethods(nullptr);
  registerPrivateUse1Methods(nullptr);
  EXPECT_EQ(ittStubs(), before);
  EXPECT_FALSE(privateuse1Stubs()->enabled());
}

TEST(ProfilerStubsTest, TheLibrarysOwnSayWhyTheyCannotBeUsed) {
  const Status status = eventBackend().available();
  if (status) GTEST_SKIP() << "there is a CUDA device here";
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_NE(status.message().find("libcuda.so.1"), std::string::npos) << status.message();
  EXPECT_FALSE(cudaStubs()->enabled());
}

}  // namespace
}  // namespace xsigma::profiler
