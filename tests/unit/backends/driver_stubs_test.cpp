// The library's own way to time a device: events of the driver, which is a stand-in here.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "stand_in_driver.h"
#include "xsigma/profiler/backend.h"
#include "xsigma/profiler/profiler_stubs.h"
#include "xsigma/profiler/status.h"

namespace xsigma::profiler {
namespace {

using test::StandInDriver;

class DriverStubs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    void* const library = dlopen(STAND_IN_DRIVER, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    driver_ = reinterpret_cast<StandInDriver* (*)()>(dlsym(library, "standInDriver"))();
    for (Backend* const each : allBackends()) {
      if (!each->isFallback() || each->device() != "CUDA") continue;
      ASSERT_TRUE(each->available()) << each->available().message();
    }
  }
  DriverStubs() {
    *driver_ = {};
    driver_->current_context = &context_;
  }
  ~DriverStubs() override { setCurrentCudaStream(nullptr); }

  int record(ProfilerVoidEventStub& event) {
    int device = 7;
    cudaStubs()->record(&device, &event, nullptr);
    return device;
  }

  static inline StandInDriver* driver_ = nullptr;
  int context_ = 0;
};

TEST_F(DriverStubs, AreThereOnceTheBackendHasLookedForThem) {
  EXPECT_TRUE(cudaStubs()->enabled());
  int devices = 0;
  cudaStubs()->onEachDevice([&](int) { ++devices; });
  EXPECT_EQ(devices, 1);
}

TEST_F(DriverStubs, TimeIsThatBetweenTwoEventsInMicroseconds) {
  ProfilerVoidEventStub first, second;
  EXPECT_EQ(record(first), 0);
  driver_->now_ms = 1.5f;
  EXPECT_EQ(record(second), 0);
  EXPECT_FLOAT_EQ(cudaStubs()->elapsed(&first, &second), 1500.0f);
  EXPECT_FLOAT_EQ(cudaStubs()->elapsed(&second, &first), -1500.0f);
  EXPECT_EQ(driver_->synchronised, 4);
  EXPECT_EQ(driver_->last_flags, 1u);  // whoever waits sleeps
}

TEST_F(DriverStubs, AThreadWithoutAContextHasNothingToTime) {
  driver_->current_context = nullptr;
  ProfilerVoidEventStub event;
  EXPECT_EQ(record(event), -1);
  EXPECT_EQ(event, nullptr);
  EXPECT_EQ(driver_->records, 0);
}

TEST_F(DriverStubs, AStreamThatIsBeingCapturedIsLeftAlone) {
  ProfilerVoidEventStub event;
  driver_->capturing = true;
  EXPECT_EQ(record(event), -1);
  driver_->capturing = false;
  driver_->default_stream_blocked = true;
  EXPECT_EQ(record(event), -1);
  EXPECT_EQ(driver_->records, 0);
  int stream = 0;
  setCurrentCudaStream(&stream);
  EXPECT_EQ(record(event), 0);  // this one is not concerned
  EXPECT_EQ(driver_->last_stream, &stream);
}

TEST_F(DriverStubs, AnEventIsUsedAgainInItsOwnContextOnly) {
  ProfilerVoidEventStub event;
  record(event);
  const void* const first = event.get();
  record(event);
  EXPECT_EQ(event.get(), first);
  EXPECT_EQ(driver_->events, 1);
  int other = 0;
  driver_->current_context = &other;
  record(event);
  EXPECT_EQ(driver_->records, 3);
  EXPECT_EQ(driver_->events, 1);  // the old one is gone
  event = nullptr;
  EXPECT_EQ(driver_->events, 0);
}

TEST_F(DriverStubs, AnEventThatItsContextHasTakenAlongIsReplaced) {
  ProfilerVoidEventStub event;
  record(event);
  driver_->fail_records = 1;
  EXPECT_EQ(record(event), 0);
  driver_->fail_records = 2;
  EXPECT_THROW(record(event), ProfilerError);
}

TEST_F(DriverStubs, AskingForTimesDisturbsNeitherContextNorCaptures) {
  ProfilerVoidEventStub first, second;
  record(first);
  record(second);
  driver_->current_context = nullptr;  // of the worker
  driver_->mode = 0;
  cudaStubs()->elapsed(&first, &second);
  EXPECT_EQ(driver_->context_of_elapsed, &context_);
  EXPECT_EQ(driver_->mode_of_elapsed, 2);  // relaxed
  EXPECT_EQ(driver_->current_context, nullptr);
  EXPECT_EQ(driver_->mode, 0);
}

TEST_F(DriverStubs, AnErrorNamesTheCallAndTheReason) {
  ProfilerVoidEventStub event;
  driver_->fail_records = 2;
  try {
    record(event);
    FAIL() << "no exception";
  } catch (const ProfilerError& error) {
    EXPECT_EQ(std::string(error.what()), "timing by CUDA events: cuEventRecord said CUDA_ERROR_OF_THE_TEST");
  }
}

}  // namespace
}  // namespace xsigma::profiler
