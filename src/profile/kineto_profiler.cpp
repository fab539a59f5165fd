#include "xsigma/profiler/kineto_profiler.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "base/log.h"
#include "profile/cycle_path.h"
#include "xsigma/profiler/exporter.h"
#include "xsigma/profiler/kineto_shim.h"
#include "xsigma/profiler/session.h"

namespace xsigma {

using namespace profiler;

namespace {

std::atomic<bool> initialized{false};

ProfileOptions optionsOf(const kineto_profiler::profiling_config& config) {
  ProfileOptions options;
  options.activities.clear();
  if (config.enable_cpu_tracing) options.activities.insert(ActivityType::CPU);
  if (config.enable_gpu_tracing) options.activities.insert(ActivityType::CUDA);
  options.record_shapes = config.record_shapes;
  options.profile_memory = config.profile_memory;
  options.with_stack = config.with_stack;
  options.with_flops = config.with_flops;
  options.with_modules = config.with_modules;
  if (!config.trace_id.empty()) options.trace_id_callback = [id = config.trace_id] { return id; };
  return options;
}

// Throws ProfilerError. The number of events that went in.
uint64_t write(const Profile& profile, const std::string& path) {
  std::error_code ignored;  // if it could not be made, writing says so
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return exportCapture(profile.result()->capture(), path, {}, "json").value().events;
}

}  // namespace

struct kineto_profiler::State {
  mutable std::mutex mutex;
  profiling_config config;
  std::optional<Profile> profile;  // while it runs
  std::chrono::steady_clock::time_point started;
  int64_t runs = 0;
};

kineto_profiler::kineto_profiler(const profiling_config& config) : state_(std::make_unique<State>()) { state_->config = config; }
kineto_profiler::~kineto_profiler() = default;

std::unique_ptr<kineto_profiler> kineto_profiler::create() { return create_with_config({}); }

std::unique_ptr<kineto_profiler> kineto_profiler::create_with_config(const profiling_config& config) {
  initialize();
  return std::unique_ptr<kineto_profiler>(new kineto_profiler(config));
}

bool kineto_profiler::initialize() {
  if (!is_initialized()) initialized = kineto_init(true);
  return is_initialized();
}

bool kineto_profiler::is_initialized() { return initialized; }

bool kineto_profiler::start_profiling() {
  const std::lock_guard lock(state_->mutex);
  if (state_->profile && state_->profile->running()) {
    base::warn("kineto_profiler::start_profiling: it profiles already. Call stop_profiling() first");
    return false;
  }
  try {
    state_->profile.emplace(optionsOf(state_->config));
    state_->profile->start();
  } catch (const std::exception& error) {
    state_->profile.reset();
    base::warn(fmt::format("kineto_profiler::start_profiling: {}", error.what()));
    return false;
  }
  state_->started = std::chrono::steady_clock::now();
  return true;
}

kineto_profiler::profiling_result kineto_profiler::stop_profiling() {
  const std::lock_guard lock(state_->mutex);
  profiling_result result;
  try {
    if (!state_->profile || !state_->profile->running()) throw ProfilerError("it does not profile. Call start_profiling() first");
    state_->profile->stop();
    result.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - state_->started).count();
    const std::filesystem::path path = std::filesystem::path(state_->config.output_dir) / (state_->config.trace_name + ".json");
    const std::string file = profile::cyclePath(path.string(), ++state_->runs, 0);
    result.activity_count = write(*state_->profile, file);
    result.output_file = file;
    result.success = true;
  } catch (const std::exception& error) {
    result.error_message = error.what();
    base::warn(fmt::format("kineto_profiler::stop_profiling: {}", result.error_message));
  }
  state_->profile.reset();
  return result;
}

bool kineto_profiler::is_profiling() const {
  const std::lock_guard lock(state_->mutex);
  return state_->profile && state_->profile->running();
}

kineto_profiler::profiling_config kineto_profiler::get_config() const {
  const std::lock_guard lock(state_->mutex);
  return state_->config;
}

bool kineto_profiler::set_config(const profiling_config& config) {
  const std::lock_guard lock(state_->mutex);
  if (state_->profile && state_->profile->running()) {
    base::warn("kineto_profiler::set_config: it profiles, with the configuration that it was started with. Call stop_profiling() first");
    return false;
  }
  state_->config = config;
  return true;
}

}  // namespace xsigma
