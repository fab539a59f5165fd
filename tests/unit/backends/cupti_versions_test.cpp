// Other versions of CUPTI, other users of it, and machines where it cannot be used.
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "watched_cupti.h"

namespace xsigma::profiler::testing {
namespace {

class CuptiVersions : public WatchedCupti {
 protected:
  // What a process sees that finds a CUPTI that behaves so; a line for each activity.
  std::vector<std::string> activitiesWith(const standin::Behaviour& behaviour, bool with_args) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      standin::behave(behaviour);
      request.process_id = 1;
      ticks = 5;
      watch();
      std::string all;
      for (const KeptActivity& activity : output->all()) {
        if (activity.name == "cudaEvent") continue;  // CUDA 12.0 tells no time of them
        std::ostringstream line;
        line << int(activity.told.role) << ' ' << activity.name << ' ' << activity.told.start << ' ' << activity.told.end << ' '
             << activity.told.correlation << ' ' << activity.told.node << ' ' << activity.told.origin << ' '
             << (with_args ? activity.args : "");
        all += line.str() + '\n';
      }
      size_t written = 0;
      while (written < all.size()) {
        const ssize_t count = write(ends[1], all.data() + written, all.size() - written);
        if (count <= 0) break;
        written += static_cast<size_t>(count);
      }
      _exit(HasFailure() ? 1 : 0);
    }
    close(ends[1]);
    std::string all;
    char piece[4096];
    for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;) all.append(piece, static_cast<size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::vector<std::string> lines;
    std::istringstream text(all);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());  // buffers and nodes of graphs come as they come
    return lines;
  }
};

TEST_F(CuptiVersions, TheCuptiOfCuda12TellsTheSame) {
  const auto now = activitiesWith({}, true);
  EXPECT_GT(now.size(), 150u);
  EXPECT_EQ(activitiesWith({.version = 18, .layouts_of_12_0 = true}, true), now);
}

TEST_F(CuptiVersions, TheCuptiOfCuda12HasNoTimesOfEventsButWaitsNameThem) {
  standin::behave({.version = 18, .layouts_of_12_0 = true});
  watch();
  EXPECT_EQ(output->countsByName(DeviceRole::note).count("cudaEvent"), 0u);
  EXPECT_EQ(output->countsByName(DeviceRole::note)["Stream Wait Event"], 4);
}

TEST_F(CuptiVersions, ALaterCuptiWithLongerRecordsTellsTheSame) {
  const auto now = activitiesWith({}, false);
  EXPECT_EQ(activitiesWith({.version = 130401, .longer_by = 32}, false), now);
  EXPECT_EQ(activitiesWith({.version = 150000, .longer_by = 128}, false), now) << "one that is newer than the headers";
}

TEST_F(CuptiVersions, ACuptiThatIsTooOldIsNamed) {
  standin::behave({.version = 17});
  const Status available = backend->available();
  ASSERT_FALSE(available);
  EXPECT_NE(available.message().find("version 17"), std::string::npos) << available.message();
  EXPECT_NE(available.message().find("12.0"), std::string::npos) << "what is needed is said: " << available.message();
}

TEST_F(CuptiVersions, AnotherToolThatHasCuptiIsNamed) {
  setenv("CUDA_INJECTION64_PATH", "/opt/tools/libToolsInjection64.so", 1);
  standin::behave({.another_subscriber = true, .other_name = "CUPTI for Acme Tracer"});
  const auto started = backend->start(request, output);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.status().code(), StatusCode::busy);
  EXPECT_NE(started.message().find("It calls itself CUPTI for Acme Tracer."), std::string::npos) << started.message();
  EXPECT_NE(started.message().find("another tool"), std::string::npos) << started.message();
  EXPECT_NE(started.message().find("/opt/tools/libToolsInjection64.so"), std::string::npos) << started.message();
  EXPECT_TRUE(standin::seen().ever_enabled_kinds.empty()) << "what the other one does is not touched";
  EXPECT_FALSE(standin::seen().timestamp_callback);
}

TEST_F(CuptiVersions, ALibraryDoesNotTakeItselfForTheOtherTool) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");  // where this code is
  setenv("CUDA_INJECTION64_PATH", own.c_str(), 1);
  standin::behave({.another_subscriber = true});
  const auto started = backend->start(request, output);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.message().find(own), std::string::npos) << started.message();
}

TEST_F(CuptiVersions, AfterTheOtherToolHasEndedARunCanStart) {
  standin::behave({.another_subscriber = true});
  ASSERT_FALSE(backend->start(request, output));
  standin::behave({});
  watch();
  EXPECT_EQ(output->of(DeviceRole::work).size(), 69u);
}

TEST_F(CuptiVersions, TwoRunsAtOnceAreRefused) {
  start();
  const auto second = backend->start(request, std::make_shared<KeptOutput>());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().code(), StatusCode::busy);
  standin::play({});
  EXPECT_TRUE(finish());
  EXPECT_EQ(output->of(DeviceRole::work).size(), 69u) << "the first goes on";
}

TEST_F(CuptiVersions, ACuptiThatCannotBeInitialisedIsAnErrorInItsWords) {
  standin::behave({.no_driver = true});
  const auto started = backend->start(request, output);
  ASSERT_FALSE(started);
  EXPECT_NE(started.message().find("CUPTI_ERROR_NOT_INITIALIZED"), std::string::npos) << started.message();
}

TEST_F(CuptiVersions, WhereThereIsNoDeviceItIsSaidAndWhereToLook) {
  standin::behave({.no_devices = true});
  const Status available = backend->available();
  ASSERT_FALSE(available);
  EXPECT_NE(available.message().find("CUDA_VISIBLE_DEVICES"), std::string::npos) << available.message();
}

TEST_F(CuptiVersions, TheProgramsMarksAreToldOnItsThread) {
  std::vector<std::pair<bool, pid_t>> marks;
  request.marked = [&](bool on) { marks.emplace_back(on, gettid()); };
  start();
  standin::call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart");
  standin::call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "cuProfilerStop");
  EXPECT_TRUE(finish());
  standin::call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart");
  EXPECT_EQ(marks, (std::vector<std::pair<bool, pid_t>>{{true, gettid()}, {false, gettid()}}));
}

}  // namespace
}  // namespace xsigma::profiler::testing
