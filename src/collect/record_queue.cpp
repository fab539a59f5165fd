#include <unistd.h>

#include "capture/mark_codec.h"
#include "capture/op_codec.h"
#include "collect/live_capture.h"
#include "collect/options.h"
#include "instrument/process_state.h"
#include "instrument/scope_entry.h"
#include "instrument/thread_registry.h"
#include "xsigma/profiler/collection.h"

namespace xsigma::profiler {

using namespace instrument;

struct RecordQueue::State {
  std::unique_ptr<collect::LiveCapture> live;

  // Runs act(writer, slot) with this thread's writer, inside the gate. Nothing after stop. Re-entry is counted as a scope or as something beside one.
  template <typename Act>
  void write(Act act, bool scope = false) noexcept {
    ThreadSlot* const slot = attachThread();
    if (slot == nullptr) return;
    const uint64_t was = gate.enter();
    capture::Writer& writer = slot->writerOf(live->session());
    if (was == kBusy) {
      if (writer.sink() != nullptr) writer.noteReentrant(scope);
      return;
    }
    if (live->running() && attached(*slot, writer)) act(writer, *slot);
    gate.leave(was);
  }

 private:
  bool attached(ThreadSlot& slot, capture::Writer& writer) noexcept {
    if (writer.sink() != nullptr && writer.sinceEpoch() == live->startEpoch()) return true;
    const std::lock_guard lock(process.mutex);
    const Session& session = process.sessions[live->session()];
    if (session.sink == nullptr || session.start_epoch != live->startEpoch()) return false;
    writer.detach();
    attachWriter(slot, live->session());
    return true;
  }
};

namespace {

uint64_t now(const capture::Writer& writer) noexcept {
  return writer.sink()->counterIsClock() ? static_cast<uint64_t>(base::monotonicNs()) : base::readTicks();
}

OpToken beginOp(capture::Writer& writer, uint32_t head, const capture::OpDetails& details) noexcept {
  const uint32_t most = writer.sink()->maxRecordWords();
  const bool inputs = writer.sink()->recordsInputs();
  const uint64_t ticks = now(writer);
  if (!writer.ensure(capture::mostDetailWords(details, inputs, most) + capture::kBeginWords, ticks)) {
    writer.countDrop(writer.why());
    return {};
  }
  uint32_t* const at = writer.next();
  const uint32_t words = capture::putDetails(details, inputs, most, writer.delta(ticks), at);
  at[words] = head;
  at[words + 1] = writer.delta(ticks);
  const OpToken token{ticks, details.id != 0 ? details.id : writer.nextId(), capture::headSite(head), writer.threadIndex()};
  writer.commit(words + capture::kBeginWords, 1);
  return token;
}

}  // namespace

RecordQueue::RecordQueue(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordQueue::RecordQueue(RecordQueue&&) noexcept = default;
RecordQueue& RecordQueue::operator=(RecordQueue&&) noexcept = default;
RecordQueue::~RecordQueue() = default;

Expected<RecordQueue> RecordQueue::create(CaptureOptions options) {
  if (const Status status = collect::checkOptions(options); !status) return status;
  if (options.follow_fork) return Status(StatusCode::invalid_argument, "a RecordQueue cannot follow forks: nobody in the child calls it. Leave follow_fork off");
  Expected<std::unique_ptr<collect::LiveCapture>> live = collect::LiveCapture::start(options, collect::Feed::by_hand);
  if (!live) return live.status();
  auto state = std::make_unique<State>();
  state->live = std::move(*live);
  return RecordQueue(std::move(state));
}

OpToken RecordQueue::begin_op(const RecordFunction& fn) noexcept {
  OpToken token;
  capture::OpDetails details;
  details.sequence_number = fn.seqNr();
  details.forward_thread = fn.forwardThreadId();
  details.debug_handle = fn.debugHandle();
  details.id = fn.handle();
  details.async = fn.isAsync();
  details.inputs = fn.inputs();
  details.keyword_inputs = &fn.kwinputs();
  state_->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    const uint32_t head = headFor(slot, fn.name(), fn.scope(), &copy);
    if (head != 0) token = beginOp(writer, head, details);
  }, true);
  return token;
}

OpToken RecordQueue::begin_op(std::string_view name, RecordScope scope) noexcept {
  OpToken token;
  state_->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    const uint32_t head = headFor(slot, name, scope, &copy);
    if (head != 0) token = beginOp(writer, head, {});
  }, true);
  return token;
}

void RecordQueue::end_op(const OpToken& token) noexcept {
  if (token.ticks == 0) return;
  state_->write([&](capture::Writer& writer, ThreadSlot&) {
    const bool ordered = writer.sink()->orderedEnd() && !writer.sink()->counterIsClock();
    const uint64_t ticks = ordered ? base::readTicksOrdered() : now(writer);
    if (writer.threadIndex() == token.thread) {
      writer.putEnd(token.site, token.ticks, ticks);
    } else {
      capture::putAsyncEnd(writer, ticks, token.site, token.id, token.ticks);
    }
  });
}

void RecordQueue::instant(std::string_view name) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putInstant(writer, now(writer), capture::headSite(headFor(slot, name, RecordScope::USER_SCOPE, &copy)));
  });
}

void RecordQueue::counter(std::string_view name, double value) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putCounter(writer, now(writer), capture::headSite(headFor(slot, name, RecordScope::USER_SCOPE, &copy)), value);
  });
}

void RecordQueue::metadata(std::string_view key, std::string_view value) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putMetadata(writer, now(writer), capture::headSite(headFor(slot, key, RecordScope::USER_SCOPE, &copy)), value);
  });
}

void RecordQueue::memory(void* ptr, int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot&) {
    capture::putMemory(writer, now(writer), capture::Code::memory, ptr, bytes, total_allocated, total_reserved, device);
  });
}

void RecordQueue::outOfMemory(int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot&) {
    capture::putMemory(writer, now(writer), capture::Code::out_of_memory, nullptr, bytes, total_allocated, total_reserved, device);
  });
}

void RecordQueue::given(const GivenEvent& event) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putGiven(writer, now(writer), capture::headSite(headFor(slot, event.name, RecordScope::FUNCTION, &copy)), event);
  });
}

void RecordQueue::pushExternalId(uint64_t id, uint8_t domain) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot&) { capture::putExternalId(writer, now(writer), capture::Code::external_push, id, domain); });
}

void RecordQueue::popExternalId(uint8_t domain) noexcept {
  state_->write([&](capture::Writer& writer, ThreadSlot&) { capture::putExternalId(writer, now(writer), capture::Code::external_pop, 0, domain); });
}

Capture RecordQueue::stop() { return state_->live->stop(); }

}  // namespace xsigma::profiler
