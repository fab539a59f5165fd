#include "xsigma/profiler/profiler_session.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/output_file.h"
#include "profile/session_report.h"
#include "xsigma/profiler/session.h"

namespace xsigma {

using namespace profiler;

namespace {

std::atomic<profiler_session*> current{nullptr};

ProfileOptions optionsOf(const profiler_session_options& wanted) {
  ProfileOptions options;
  options.profile_memory = wanted.memory_tracking || wanted.peak_memory_tracking || wanted.memory_deltas;
  return options;
}

[[noreturn]] void refuse(const char* what, const char* why) {
  throw ProfilerError(fmt::format("profiler_session_builder::{} was asked for, and cannot be honoured: {}", what, why));
}

void check(const profiler_session_options& wanted) {
  const bool csv = wanted.output_format == profiler_output_format::CSV;
  if (!wanted.timing) refuse("with_timing(false)", "scopes are their times. Leave it out");
  if (!wanted.thread_safety) refuse("with_thread_safety(false)", "any thread may record at any time. Leave it out");
  if (wanted.max_samples != 0)
    refuse("with_max_samples", "every call counts. Leave it out; ExperimentalConfig::capture limits the memory of a Profile");
  if (wanted.thread_pool_size != 0) refuse("with_thread_pool_size", "nothing here has a pool of threads. Leave it out");
  if (wanted.output_format == profiler_output_format::STRUCTURED) refuse("with_output_format(STRUCTURED)", "there is no XML. Use JSON");
  if (csv && wanted.hierarchical_profiling) refuse("with_hierarchical_profiling", "CSV has no room for a tree. Use CONSOLE or JSON");
  if (csv && wanted.peak_memory_tracking) refuse("with_peak_memory_tracking", "CSV has no room beside its rows. Use CONSOLE or JSON");
}

// What throws becomes a warning.
template <typename Call>
bool succeeds(const char* name, Call call) {
  try {
    call();
    return true;
  } catch (const std::exception& error) {
    base::warn(fmt::format("profiler_session::{}: {}", name, error.what()));
    return false;
  }
}

}  // namespace

struct profiler_session::State {
  explicit State(const profiler_session_options& wanted) : options(wanted), profile(optionsOf(wanted)) {}

  profiler_session_options options;
  Profile profile;
};

profiler_session::profiler_session(const profiler_session_options& options) : state_(std::make_unique<State>(options)) {}

profiler_session::~profiler_session() {
  if (is_active()) stop();
  profiler_session* self = this;
  current.compare_exchange_strong(self, nullptr);  // a forked child's copy
}

bool profiler_session::start() {
  return succeeds("start", [this] {
    state_->profile.start();
    current = this;
  });
}

bool profiler_session::stop() {
  return succeeds("stop", [this] {
    profiler_session* self = this;
    current.compare_exchange_strong(self, nullptr);
    state_->profile.stop();
    if (!state_->options.output_file.empty() && !export_report()) throw ProfilerError("the report is not written");
  });
}

bool profiler_session::is_active() const { return state_->profile.running(); }

profiler_session* profiler_session::current_session() {
  profiler_session* const session = current;
  return session != nullptr && session->is_active() ? session : nullptr;
}

std::string profiler_session::generate_report() const { return profile::sessionReport(*state_->profile.result(), state_->options); }

void profiler_session::print_report(std::ostream& out) const { out << generate_report() << std::flush; }

bool profiler_session::export_report(const std::string& path) const {
  return succeeds("export_report", [&] {
    const std::string& target = path.empty() ? state_->options.output_file : path;
    if (target.empty()) throw ProfilerError("no path was given, and there is no output file. Name one, or use with_output_file()");
    if (const Status status = base::writeFile(target, "the report", generate_report()); !status) throw ProfilerError(status.message());
  });
}

bool profiler_session::write_chrome_trace(const std::string& path) const {
  return succeeds("write_chrome_trace", [&] { state_->profile.exportChromeTrace(path); });
}

profiler_session_builder& profiler_session_builder::with_timing(bool on) {
  options_.timing = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_memory_tracking(bool on) {
  options_.memory_tracking = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_hierarchical_profiling(bool on) {
  options_.hierarchical_profiling = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_statistical_analysis(bool on) {
  options_.statistical_analysis = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_percentiles(bool on) {
  options_.percentiles = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_peak_memory_tracking(bool on) {
  options_.peak_memory_tracking = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_memory_deltas(bool on) {
  options_.memory_deltas = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_max_samples(size_t count) {
  options_.max_samples = count;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_output_format(profiler_output_format format) {
  options_.output_format = format;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_output_file(std::string path) {
  options_.output_file = std::move(path);
  return *this;
}
profiler_session_builder& profiler_session_builder::with_thread_safety(bool on) {
  options_.thread_safety = on;
  return *this;
}
profiler_session_builder& profiler_session_builder::with_thread_pool_size(size_t threads) {
  options_.thread_pool_size = threads;
  return *this;
}

std::unique_ptr<profiler_session> profiler_session_builder::build() const {
  check(options_);
  return std::unique_ptr<profiler_session>(new profiler_session(options_));
}

}  // namespace xsigma
