#include "session/profiler_session.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/native_stack.h"
#include "base/process_barrier.h"
#include "capture/mark_codec.h"
#include "collect/clock_choice.h"
#include "instrument/scope_entry.h"
#include "session/device_watch.h"

namespace xsigma::profiler::session {
namespace {

uint32_t scopeBits(const std::unordered_set<RecordScope>& scopes) {
  if (scopes.empty()) return instrument::kAllScopes;
  uint32_t bits = 0;
  for (const RecordScope scope : scopes) bits |= 1u << static_cast<uint32_t>(scope);
  return bits;
}

std::string list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + base::quoted(text);
  return out + "]";
}

// What was asked for goes into the trace, under the names that readers know.
void addConfigProperties(collect::LiveCapture& live, const ProfilerConfig& config) {
  const auto flag = [&](const char* key, bool value) {
    if (value) live.addProperty(key, "1");
  };
  flag("record_shapes", config.report_input_shapes);
  flag("profile_memory", config.profile_memory);
  flag("with_stack", config.with_stack);
  flag("with_flops", config.with_flops);
  flag("with_modules", config.with_modules);
  flag("verbose", config.experimental_config.verbose);
  flag("disable_external_correlation", config.experimental_config.disable_external_correlation);
  if (!config.trace_id.empty()) live.addProperty("trace_id", base::quoted(config.trace_id));
  if (!config.experimental_config.performance_events.empty()) live.addProperty("performance_events", list(config.experimental_config.performance_events));
}

}  // namespace

Status warmUp(const SessionPlan& plan) {
  const Expected<bool> counter_is_clock = collect::ticksAreClock();
  if (!counter_is_clock) return counter_is_clock.status();
  base::ticksPerMillisecond(*counter_is_clock);
  base::processBarrierAvailable();
  instrument::attachThread();
  if (plan.config.with_stack) base::prepareStackCapture();
  return DeviceWatch::prepare(plan, *counter_is_clock);
}

Expected<std::shared_ptr<ProfilerSession>> ProfilerSession::start(SessionPlan plan) {
  std::shared_ptr<ProfilerSession> session(new ProfilerSession(std::move(plan)));
  const ProfilerConfig& config = session->config();
  CaptureOptions options = config.experimental_config.capture;
  if (options.policy != CapturePolicy::unbounded) options.byte_cap -= DeviceWatch::bufferBytes(session->plan_);
  options.record_inputs = config.report_input_shapes;
  collect::Audience audience;
  audience.joined_only = !config.pushGlobalCallbacks();
  audience.scopes = scopeBits(session->plan_.scopes);
  audience.memory = config.profile_memory;
  audience.stacks = config.with_stack;
  audience.performance_events = config.experimental_config.performance_events;
  Expected<std::unique_ptr<collect::LiveCapture>> live = collect::LiveCapture::start(options, audience);
  if (!live) return live.status();
  session->live_ = std::move(*live);
  addConfigProperties(*session->live_, config);
  Expected<std::unique_ptr<DeviceWatch>> devices = DeviceWatch::start(session->plan_, session->live_);
  if (!devices) {
    session->live_->stop();
    return devices.status();
  }
  session->devices_ = std::move(*devices);
  return session;
}

void ProfilerSession::join() noexcept {
  if (!config().pushGlobalCallbacks() && recordsCpu()) live_->join();
}

void ProfilerSession::leave() noexcept { live_->leave(); }

void ProfilerSession::report(const GivenEvent& event, RecordScope scope) noexcept {
  live_->write([&](capture::Writer& writer, instrument::ThreadSlot& slot) {
    const char* copy = nullptr;
    const uint32_t head = instrument::headFor(slot, event.name, scope, &copy);
    capture::putGiven(writer, collect::ticksNow(writer), capture::headSite(head), event);
  });
}

void ProfilerSession::addThread() noexcept {
  live_->write([](capture::Writer&, instrument::ThreadSlot&) {});
}

void ProfilerSession::pushExternalId(uint64_t id, uint8_t domain) noexcept {
  live_->write([&](capture::Writer& writer, instrument::ThreadSlot&) {
    capture::putExternalId(writer, collect::ticksNow(writer), capture::Code::external_push, id, domain);
  });
}

void ProfilerSession::popExternalId(uint8_t domain) noexcept {
  live_->write([&](capture::Writer& writer, instrument::ThreadSlot&) {
    capture::putExternalId(writer, collect::ticksNow(writer), capture::Code::external_pop, 0, domain);
  });
}

Capture ProfilerSession::stop() {
  if (const uint64_t steps = steps_.load(std::memory_order_relaxed); steps != 0) live_->addProperty("iterations", fmt::to_string(steps));
  return live_->stop(devices_ != nullptr ? devices_->stop() : nullptr);
}

ProfilerSession::~ProfilerSession() {
  if (live_ != nullptr && live_->running()) stop();
}

bool ProfilerSession::setDeviceCollecting(bool on) noexcept {
  if (devices_ != nullptr) devices_->setCollecting(on);
  return devices_ != nullptr;
}

}  // namespace xsigma::profiler::session
