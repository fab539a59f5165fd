#include "collect/live_capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/behind.h"
#include "base/loaded_modules.h"
#include "base/native_stack.h"
#include "base/process_barrier.h"
#include "base/ticks.h"
#include "capture/block_walk.h"
#include "capture/source.h"
#include "collect/clock_choice.h"
#include "collect/process_properties.h"
#include "collect/sink_graveyard.h"
#include "instrument/process_state.h"
#include "instrument/thread_registry.h"

namespace xsigma::profiler::collect {

using namespace instrument;
using capture::Sink;

namespace {

// Under the registry's lock: a place in the source keeps its id, so it must be known before it is used again. Other names come as they are used.
void writePlaces(const Session& session, uint32_t place) noexcept {
  for (uint32_t id = 1; id <= process.names.siteCount(); ++id) {
    if (process.names.site(id).file != 0) writeSite(session, place, id);
  }
}

// Under the registry's and the pool's lock: where every thread stands is where the capture ends.
void freezeBlocks(uint32_t session, const Sink& sink, uint32_t start_epoch) noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot->own_gate == nullptr) continue;
    const capture::Writer& writer = slot->writerOf(session);
    capture::BlockHeader* const block = writer.block();
    if (writer.feeds(&sink, start_epoch) && block != &capture::no_block) {
      block->frozen.store(block->cursor.load(std::memory_order_acquire), std::memory_order_release);
    }
  }
}

void bookReentrantDrops(uint32_t session, const Sink& sink, uint32_t start_epoch) noexcept {
  for (ThreadSlot* slot = process.slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot->own_gate == nullptr) continue;
    capture::Writer& writer = slot->writerOf(session);
    if (writer.feeds(&sink, start_epoch)) writer.bookReentrant();
  }
}

// What is loaded now and was not among `known`: addresses can be told by them later.
std::vector<base::LoadedModule> addModules(Sink& sink, const std::vector<base::LoadedModule>& known) {
  std::vector<base::LoadedModule> loaded = base::loadedModules();
  for (const base::LoadedModule& module : loaded) {
    const auto same = [&](const base::LoadedModule& other) { return other.start == module.start && other.path == module.path; };
    if (std::none_of(known.begin(), known.end(), same)) sink.addModule(module.path, module.build_id, module.start, module.end, module.bias);
  }
  return loaded;
}

}  // namespace

Expected<std::unique_ptr<LiveCapture>> LiveCapture::start(const CaptureOptions& options, const Audience& audience) {
  const Expected<bool> counter_is_clock = ticksAreClock();
  if (!counter_is_clock) return counter_is_clock.status();
  base::processBarrierAvailable();
  Expected<std::unique_ptr<Sink>> sink = Sink::create(options, *counter_is_clock, process.next_id);
  if (!sink) return sink.status();

  const Expected<base::PerfPlan> perf = base::planPerfEvents(audience.performance_events);
  if (!perf) return perf.status();
  addProcessProperties(**sink);
  std::vector<base::LoadedModule> modules;
  if (audience.stacks) {
    base::prepareStackCapture();
    modules = addModules(**sink, {});
  }

  std::unique_ptr<LiveCapture> live(new LiveCapture);
  live->sink_ = buriedWhenUnused(std::move(*sink));
  live->process_id_ = getpid();
  live->modules_ = std::move(modules);
  live->unattached_drops_before_ = process.unattached_drops.load(std::memory_order_relaxed);

  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  Session* const free =
      std::find_if(std::begin(process.sessions), std::end(process.sessions), [](const Session& s) { return s.sink == nullptr; });
  if (free == std::end(process.sessions)) {
    live->stopped_ = true;
    return Status(StatusCode::busy,
                  fmt::format("{} recordings are running already, the most that may at once. Stop one first", kMaxSessions));
  }
  live->session_ = static_cast<uint32_t>(free - process.sessions);
  live->start_epoch_ = process.epoch + 1;
  Session session{live->sink_.get(), live->start_epoch_, audience.feed == Feed::by_hand};
  session.joined_only = audience.joined_only;
  session.scopes = session.collected_scopes = audience.scopes;
  session.memory = audience.memory;
  session.stacks = audience.stacks;
  session.perf = *perf;
  writePlaces(session, live->session_);
  if (const Status status = live->sink_->publish(); !status) {
    live->stopped_ = true;
    return status;
  }
  *free = session;
  publishChange();
  return live;
}

bool LiveCapture::isForked() const noexcept { return getpid() != process_id_; }

LiveCapture::~LiveCapture() {
  if (!stopped_) stop();
}

namespace {

Capture captureOf(const std::shared_ptr<Sink>& sink) {
  return Capture(std::make_shared<Capture::Source>(capture::memoryImage(sink, sink->image(), sink->pool().usedBytes()), sink->path()));
}

}  // namespace

std::shared_ptr<DeviceOutput> LiveCapture::openDevices(std::string_view backend) {
  const std::lock_guard guard(mutex_);
  return devices_.emplace_back(std::make_shared<DeviceOutput>(sink_, backend));
}

void LiveCapture::dropDevices(const std::shared_ptr<DeviceOutput>& output) noexcept {
  output->close();
  const std::lock_guard guard(mutex_);
  devices_.erase(std::remove(devices_.begin(), devices_.end(), output), devices_.end());
}

// In a forked child the capture is the parent's, and not ours to touch; a thread that is not there may have held the lock.
Capture LiveCapture::finishedByParent() const {
  const std::unique_lock guard(mutex_, std::try_to_lock);
  return guard.owns_lock() ? finished_ : Capture();
}

Capture LiveCapture::stop(std::function<void()> drain) {
  if (isForked()) {
    stopped_.store(true);
    return finishedByParent();
  }
  const std::lock_guard guard(mutex_);
  if (stopped_.exchange(true)) return finished_;
  stopThreads();
  if (!devices_.empty()) {
    finished_ = finishBehind(std::move(drain));
  } else {
    finished_ = captureOf(sink_);
  }
  sink_.reset();
  return finished_;
}

Capture LiveCapture::finishBehind(std::function<void()> drain) {
  auto made = std::make_shared<std::promise<std::shared_ptr<const capture::Image>>>();
  Capture capture(std::make_shared<Capture::Source>(capture::awaitedImage(made->get_future().share()), sink_->path()));
  base::runBehind([made, drain = std::move(drain), devices = std::move(devices_), sink = sink_] {
    if (drain) drain();
    for (const std::shared_ptr<DeviceOutput>& each : devices) each->close();
    sink->stop([] {});
    made->set_value(capture::memoryImage(sink, sink->image(), sink->pool().usedBytes()));
  });
  return capture;
}

void LiveCapture::stopThreads() {
  {
    if (!modules_.empty()) addModules(*sink_, modules_);  // those that were loaded meanwhile
    const ControlSection section;
    const std::lock_guard lock(process.mutex);
    process.sessions[session_] = {};
    publishChange();
    base::processBarrier();
    bookReentrantDrops(session_, *sink_, start_epoch_);
    const uint64_t unattached = process.unattached_drops.load(std::memory_order_relaxed) - unattached_drops_before_;
    if (unattached != 0) sink_->countDrop(LossCause::reentrant, unattached);
    const auto freeze = [this] { freezeBlocks(session_, *sink_, start_epoch_); };
    if (!devices_.empty()) {
      sink_->stopThreads(freeze);
    } else {
      sink_->stop(freeze);
    }
  }
}

void LiveCapture::join() noexcept {
  const ControlSection section;
  ThreadSlot* const slot = section.slot();
  if (slot == nullptr || !running()) return;
  const std::lock_guard lock(process.mutex);
  slot->joined[session_] = start_epoch_;
  slot->left[session_] = false;
  slot->own_gate->expected.store(kStale, std::memory_order_seq_cst);
  slot->synced_word = 0;
}

void LiveCapture::leave() noexcept {
  const ControlSection section;
  ThreadSlot* const slot = section.slot();
  if (slot == nullptr) return;
  const std::lock_guard lock(process.mutex);
  if (slot->joined[session_] != start_epoch_) return;
  slot->left[session_] = true;
  slot->own_gate->expected.store(kStale, std::memory_order_seq_cst);
  slot->synced_word = 0;
}

void LiveCapture::setCollecting(bool on) noexcept {
  const ControlSection section;
  const std::lock_guard lock(process.mutex);
  Session& session = process.sessions[session_];
  if (!running() || session.start_epoch != start_epoch_) return;
  session.collected_scopes = on ? session.scopes : 0;
  publishChange();
}

void LiveCapture::addProperty(std::string_view key, std::string_view json) noexcept {
  if (isForked()) return;
  const ControlSection section;  // a scope in a signal handler must not wait for the lock that this thread holds
  const std::lock_guard guard(mutex_);
  if (sink_ != nullptr) sink_->addProperty(key, json);
}

bool LiveCapture::attached(ThreadSlot& slot, capture::Writer& writer) noexcept {
  if (writer.sink() != nullptr && writer.sinceEpoch() == start_epoch_) return true;
  const std::lock_guard lock(process.mutex);
  const Session& session = process.sessions[session_];
  if (session.sink == nullptr || session.start_epoch != start_epoch_) return false;
  writer.detach();
  slot.perf[session_].close();
  attachWriter(slot, session_);
  return true;
}

Capture LiveCapture::snapshot() const {
  if (isForked()) return finishedByParent();
  const std::lock_guard guard(mutex_);
  if (stopped_) return finished_;
  std::vector<char> bytes(capture::kPageBytes);
  capture::memoryImage(sink_, sink_->image(), bytes.size())->read(0, bytes.data(), bytes.size());
  capture::Damages ignored;
  // The tables last: they have what the records before them refer to.
  for (const capture::BlockType type : {capture::BlockType::data, capture::BlockType::table}) {
    {
      const ControlSection section;  // a scope in a signal handler must not wait for the lock that this thread holds
      bytes.resize(sink_->pool().usedBytes());
    }
    const std::shared_ptr<const capture::Image> live = capture::memoryImage(sink_, sink_->image(), bytes.size());
    capture::walkBlocks(*live, ignored, [&](const capture::BlockCopy& block) {
      if (block.type == type) std::memcpy(bytes.data() + block.offset, block.words.data(), block.words.size() * 4);
    });
  }
  return Capture(std::make_shared<Capture::Source>(capture::bytesImage(std::move(bytes)), sink_->path()));
}

}  // namespace xsigma::profiler::collect
