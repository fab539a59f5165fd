// In place of recording.cpp and the readers, where the library is built with XSIGMA_ENABLE_KINETO=OFF: every call says so.
#include "xsigma/profiler/capture.h"
#include "xsigma/profiler/collection.h"

namespace xsigma::profiler {

struct Capture::Source {};
struct Recording::State {};
struct RecordQueue::State {};

namespace {

Status unsupported(const char* call) {
  return {StatusCode::unsupported,
          std::string(call) + ": this library was built with XSIGMA_ENABLE_KINETO=OFF, without captures. Build it with XSIGMA_ENABLE_KINETO=ON"};
}

}  // namespace

Capture::Capture() = default;
Capture::Capture(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
const CaptureInfo& Capture::info() const {
  static const CaptureInfo none;
  return none;
}
const std::vector<ThreadInfo>& Capture::threads() const {
  static const std::vector<ThreadInfo> none;
  return none;
}
const std::vector<CaptureProperty>& Capture::properties() const {
  static const std::vector<CaptureProperty> none;
  return none;
}
const std::vector<Damage>& Capture::damages() const {
  static const std::vector<Damage> none;
  return none;
}
Ledger Capture::ledger() const { return {}; }
void Capture::forEachRecord(const std::function<void(const CaptureRecord&)>&) const {}
int64_t Capture::toMonotonicNs(uint64_t ticks) const { return static_cast<int64_t>(ticks); }
Status Capture::save(const std::string&) const { return unsupported("Capture::save"); }

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;
Capture Recording::stop() { return {}; }
Capture Recording::snapshot() const { return {}; }
Expected<Recording> startRecording(CaptureOptions) { return unsupported("startRecording"); }
Expected<Capture> openCapture(const std::string&) { return unsupported("openCapture"); }

RecordQueue::RecordQueue(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordQueue::RecordQueue(RecordQueue&&) noexcept = default;
RecordQueue& RecordQueue::operator=(RecordQueue&&) noexcept = default;
RecordQueue::~RecordQueue() = default;
Expected<RecordQueue> RecordQueue::create(CaptureOptions) { return unsupported("RecordQueue::create"); }
OpToken RecordQueue::begin_op(const RecordFunction&) noexcept { return {}; }
OpToken RecordQueue::begin_op(std::string_view, RecordScope) noexcept { return {}; }
void RecordQueue::end_op(const OpToken&) noexcept {}
void RecordQueue::instant(std::string_view) noexcept {}
void RecordQueue::counter(std::string_view, double) noexcept {}
void RecordQueue::metadata(std::string_view, std::string_view) noexcept {}
void RecordQueue::memory(void*, int64_t, size_t, size_t, Device) noexcept {}
void RecordQueue::outOfMemory(int64_t, size_t, size_t, Device) noexcept {}
void RecordQueue::given(const GivenEvent&) noexcept {}
void RecordQueue::pushExternalId(uint64_t, uint8_t) noexcept {}
void RecordQueue::popExternalId(uint8_t) noexcept {}
Capture RecordQueue::stop() { return {}; }

}  // namespace xsigma::profiler
