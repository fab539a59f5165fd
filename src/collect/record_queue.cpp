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
};

namespace {

using collect::ticksNow;

OpToken beginOp(capture::Writer& writer, uint32_t head, const capture::OpDetails& details) noexcept {
  const uint32_t most = writer.sink()->maxRecordWords();
  const bool inputs = writer.sink()->recordsInputs();
  const uint64_t ticks = ticksNow(writer);
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
  Expected<std::unique_ptr<collect::LiveCapture>> live = collect::LiveCapture::start(options, {collect::Feed::by_hand});
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
  state_->live->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    const uint32_t head = headFor(slot, fn.name(), fn.scope(), &copy);
    if (head != 0) token = beginOp(writer, head, details);
  }, true);
  return token;
}

OpToken RecordQueue::begin_op(std::string_view name, RecordScope scope) noexcept {
  OpToken token;
  state_->live->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    const uint32_t head = headFor(slot, name, scope, &copy);
    if (head != 0) token = beginOp(writer, head, {});
  }, true);
  return token;
}

void RecordQueue::end_op(const OpToken& token) noexcept {
  if (token.ticks == 0) return;
  state_->live->write([&](capture::Writer& writer, ThreadSlot&) {
    const bool ordered = writer.sink()->orderedEnd() && !writer.sink()->counterIsClock();
    const uint64_t ticks = ordered ? base::readTicksOrdered() : ticksNow(writer);
    if (writer.threadIndex() == token.thread) {
      writer.putEnd(token.site, token.ticks, ticks);
    } else {
      capture::putAsyncEnd(writer, ticks, token.site, token.id, token.ticks);
    }
  });
}

void RecordQueue::instant(std::string_view name) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putInstant(writer, ticksNow(writer), capture::headSite(headFor(slot, name, RecordScope::USER_SCOPE, &copy)));
  });
}

void RecordQueue::counter(std::string_view name, double value) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putCounter(writer, ticksNow(writer), capture::headSite(headFor(slot, name, RecordScope::USER_SCOPE, &copy)), value);
  });
}

void RecordQueue::metadata(std::string_view key, std::string_view value) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putMetadata(writer, ticksNow(writer), capture::headSite(headFor(slot, key, RecordScope::USER_SCOPE, &copy)), value);
  });
}

void RecordQueue::memory(void* ptr, int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot&) {
    capture::putMemory(writer, ticksNow(writer), capture::Code::memory, ptr, bytes, total_allocated, total_reserved, device);
  });
}

void RecordQueue::outOfMemory(int64_t bytes, size_t total_allocated, size_t total_reserved, Device device) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot&) {
    capture::putMemory(writer, ticksNow(writer), capture::Code::out_of_memory, nullptr, bytes, total_allocated, total_reserved, device);
  });
}

void RecordQueue::given(const GivenEvent& event) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot& slot) {
    const char* copy = nullptr;
    capture::putGiven(writer, ticksNow(writer), capture::headSite(headFor(slot, event.name, RecordScope::FUNCTION, &copy)), event);
  });
}

void RecordQueue::pushExternalId(uint64_t id, uint8_t domain) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot&) { capture::putExternalId(writer, ticksNow(writer), capture::Code::external_push, id, domain); });
}

void RecordQueue::popExternalId(uint8_t domain) noexcept {
  state_->live->write([&](capture::Writer& writer, ThreadSlot&) { capture::putExternalId(writer, ticksNow(writer), capture::Code::external_pop, 0, domain); });
}

Capture RecordQueue::stop() { return state_->live->stop(); }

}  // namespace xsigma::profiler
