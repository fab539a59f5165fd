#include "backends/cupti/counters/sample_stream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/cupti/counters/refusal.h"

namespace xsigma::profiler::backends::cupti {
namespace {

using std::chrono::nanoseconds;

constexpr uint32_t kVersion12_8 = 26;  // the first that can keep the latest samples
constexpr size_t kLeastBuffer = size_t{1} << 20;
constexpr size_t kMostBuffer = size_t{512} << 20;
constexpr size_t kLeastSlots = 64;
constexpr size_t kMostSlots = 2048;  // of about 16 KiB
// Samples that would have to be fetched more often than that are not taken: the device's buffer runs over again and again. With a period of 60 µs a program
// died on an H200 (CUPTI 13.0) of a floating point exception in the thread that fetches, which divides by nothing that can be zero itself.
constexpr nanoseconds kLeastPeriod(250'000);

int attribute(const CounterApi& api, int device, CUdevice_attribute which) {
  CUdevice handle = 0;
  int value = 0;
  if (api.cuDeviceGet(&handle, device) != CUDA_SUCCESS || api.cuDeviceGetAttribute(&value, which, handle) != CUDA_SUCCESS) return 0;
  return value;
}

uint64_t lostBetween(uint64_t from, uint64_t to, double each) {
  if (from == 0 || to <= from || each <= 0) return 0;
  return static_cast<uint64_t>(std::llround(static_cast<double>(to - from) / each));
}

}  // namespace

SampleStream::SampleStream(const CounterApi& api, MetricPlan plan, int device, nanoseconds interval, size_t bytes, MetricHost host)
    : api_(api),
      plan_(std::move(plan)),
      device_(device),
      interval_(interval),
      bytes_(bytes),
      host_(std::move(host)),
      values_(plan_.metrics.size()) {
  for (const std::string& metric : plan_.metrics) names_.push_back(metric.c_str());
}

SampleStream::~SampleStream() { close(); }

Expected<std::unique_ptr<SampleStream>> SampleStream::open(const CounterApi& api, MetricPlan plan, int device, nanoseconds interval,
                                                           size_t bytes) {
  Expected<MetricHost> host = MetricHost::open(api, plan);
  if (!host) return host.status();
  std::unique_ptr<SampleStream> stream(new SampleStream(api, std::move(plan), device, interval, bytes, std::move(*host)));
  if (Status status = stream->enable(); !status) return status;
  return stream;
}

Status SampleStream::enable() {
  auto enable = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_Enable_Params, pPmSamplingObject);
  enable.deviceIndex = static_cast<size_t>(device_);
  if (const CUptiResult result = api_.cuptiPmSamplingEnable(&enable); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiPmSamplingEnable", fmt::format("sample counters of device {}", device_));
  }
  object_ = enable.pPmSamplingObject;
  if (Status status = makeRoom(); !status) return status;
  return configure();
}

Expected<size_t> SampleStream::imageBytes(size_t slots) const {
  auto size = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
  size.pPmSamplingObject = object_;
  size.pMetricNames = const_cast<const char**>(names_.data());
  size.numMetrics = names_.size();
  size.maxSamples = static_cast<uint32_t>(slots);
  if (const CUptiResult result = api_.cuptiPmSamplingGetCounterDataSize(&size); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiPmSamplingGetCounterDataSize", fmt::format("sample counters of device {}", device_));
  }
  return size.counterDataSize;
}

// An image that is full when there is more to decode loses what is left. So it holds four times of what comes in one period; and it is
// not larger than that, since it is cleared as a whole after each. Where there is little memory, the periods are shorter.
Status SampleStream::makeRoom() {
  if (hardware_bytes_ != 0) return {};
  const nanoseconds usual = std::clamp(interval_ * 64, nanoseconds(5'000'000), nanoseconds(100'000'000));
  const auto in_period = static_cast<size_t>(usual / interval_);
  const size_t least = std::max(kLeastSlots, static_cast<size_t>(4 * kLeastPeriod / interval_));
  size_t slots = std::max(least, std::clamp<size_t>(4 * in_period, 256, kMostSlots));
  Expected<size_t> image = imageBytes(slots);
  while (image && *image > bytes_ / 2 && slots > least) {
    slots = std::max(slots * 3 / 4, least);
    image = imageBytes(slots);
  }
  if (!image) return image.status();
  if (*image > bytes_ / 2 || bytes_ - *image < kLeastBuffer) {
    return {StatusCode::invalid_argument,
            fmt::format(
                "cannot sample {} metrics of device {} every {} µs: that takes {} bytes at least, and {} are its part of what the "
                "recording may use. Ask for fewer or for a longer interval, raise capture.byte_cap, or let the program see fewer devices "
                "(CUDA_VISIBLE_DEVICES)",
                names_.size(), device_, interval_.count() / 1000, std::max(2 * *image, *image + kLeastBuffer), bytes_)};
  }
  image_bytes_ = *image;
  hardware_bytes_ = std::min((bytes_ - *image) / kLeastBuffer * kLeastBuffer, kMostBuffer);
  period_ = std::min(usual, interval_ * static_cast<nanoseconds::rep>(slots) / 4);
  return {};
}

Status SampleStream::configure() {
  const std::string what =
      fmt::format("sample {} every {} µs on device {}", fmt::join(plan_.metrics, ", "), interval_.count() / 1000, device_);
  const int major = attribute(api_, device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(api_, device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  const bool turing = major < 8;
  by_time_ = major > 8 || (major == 8 && minor >= 6);  // the others count their clock's cycles

  auto config = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_SetConfig_Params, triggerMode);
  config.pPmSamplingObject = object_;
  config.configSize = plan_.config.size();
  config.pConfig = plan_.config.data();
  config.hardwareBufferSize = hardware_bytes_;
  config.samplingInterval = static_cast<uint64_t>(interval_.count());
  config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  if (!by_time_) {
    const auto kilohertz = static_cast<uint64_t>(std::max(attribute(api_, device_, CU_DEVICE_ATTRIBUTE_CLOCK_RATE), 1'000'000));
    config.samplingInterval = config.samplingInterval * kilohertz / 1'000'000;
    config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  }
  if (api_.version >= kVersion12_8) {
    config.structSize = offsetof(CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode) + sizeof(config.hwBufferAppendMode);
    config.hwBufferAppendMode =
        turing ? CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
  }
  if (const CUptiResult result = api_.cuptiPmSamplingSetConfig(&config); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiPmSamplingSetConfig", what);
  }

  image_.assign(image_bytes_, 0);
  renew();
  if (!trouble_.empty()) return {StatusCode::unsupported, trouble_};
  return {};
}

bool SampleStream::ok(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return true;
  if (trouble_.empty()) trouble_ = fmt::format("{} on device {} answered {}", call, device_, api_.nameOf(result));
  return false;
}

Status SampleStream::begin() {
  if (on_ || object_ == nullptr) return {};
  auto start = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_Start_Params, pPmSamplingObject);
  start.pPmSamplingObject = object_;
  if (const CUptiResult result = api_.cuptiPmSamplingStart(&start); result != CUPTI_SUCCESS) {
    return refusal(api_, result, "cuptiPmSamplingStart", fmt::format("sample counters of device {}", device_));
  }
  on_ = true;
  is_first_ = true;
  last_end_ = 0;
  const Moment now = moment();
  began_ = now.time;
  if (first_moment_.time == 0) first_moment_ = now;
  return {};
}

// The best of a few: a thread may be interrupted between two readings.
SampleStream::Moment SampleStream::moment() const {
  using std::chrono::steady_clock;
  Moment best;
  steady_clock::duration least = steady_clock::duration::max();
  for (int i = 0; i < 3; ++i) {
    uint64_t time = 0;
    const steady_clock::time_point before = steady_clock::now();
    if (api_.cuptiGetTimestamp(&time) != CUPTI_SUCCESS) return {};
    const steady_clock::time_point after = steady_clock::now();
    if (after - before >= least) continue;
    least = after - before;
    best = {time, before + (after - before) / 2};
  }
  return best;
}

void SampleStream::measureInterval() {
  const Moment now = moment();
  const double passed = std::chrono::duration<double, std::nano>(now.at - first_moment_.at).count();
  if (first_moment_.time == 0 || now.time <= first_moment_.time || passed <= 0) return;
  interval_time_ = static_cast<double>(interval_.count()) * static_cast<double>(now.time - first_moment_.time) / passed;
}

void SampleStream::halt() {
  if (!on_) return;
  on_ = false;
  auto stop = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_Stop_Params, pPmSamplingObject);
  stop.pPmSamplingObject = object_;
  ok(api_.cuptiPmSamplingStop(&stop), "cuptiPmSamplingStop");
}

bool SampleStream::decode() {
  completed_ = 0;
  if (object_ == nullptr) return true;
  measureInterval();
  auto decode = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_DecodeData_Params, overflow);
  decode.pPmSamplingObject = object_;
  decode.pCounterDataImage = image_.data();
  decode.counterDataImageSize = image_.size();
  const CUptiResult result = api_.cuptiPmSamplingDecodeData(&decode);
  if (result != CUPTI_SUCCESS) {
    // The device's buffer ran full: OUT_OF_MEMORY, or UNKNOWN where it keeps the latest. It takes nothing more until it is made anew.
    if (result != CUPTI_ERROR_OUT_OF_MEMORY && result != CUPTI_ERROR_UNKNOWN) ok(result, "cuptiPmSamplingDecodeData");
    ++lost_;
    if (on_) restart();
    return true;
  }
  if (decode.overflow != 0) ++lost_;
  auto info = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  if (ok(api_.cuptiPmSamplingGetCounterDataInfo(&info), "cuptiPmSamplingGetCounterDataInfo")) completed_ = info.numCompletedSamples;
  return decode.decodeStopReason != CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
}

void SampleStream::missUntil(uint64_t time) {
  constexpr uint64_t kAtTheEdges = 3;  // the first is left out, the last may not be complete
  const uint64_t missing = lostBetween(last_end_ != 0 ? last_end_ : began_, time, interval_time_);
  if (missing > kAtTheEdges) lost_ += missing;
  last_end_ = began_ = 0;
}

void SampleStream::restart() {
  const uint64_t gap_from = last_end_ != 0 ? last_end_ : began_;
  close();
  Status status = enable();
  if (status) status = begin();
  if (!status && trouble_.empty()) trouble_ = status.message();
  last_end_ = gap_from;
}

bool SampleStream::read(size_t index, CounterSample& sample) {
  auto info = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
  info.pPmSamplingObject = object_;
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  info.sampleIndex = index;
  if (!ok(api_.cuptiPmSamplingCounterDataGetSampleInfo(&info), "cuptiPmSamplingCounterDataGetSampleInfo")) return false;
  // Some that cover no time come after stop, or after an image was full.
  if (info.startTimestamp == 0 || info.endTimestamp <= info.startTimestamp) return false;
  // The first reaches back to before sampling began.
  if (std::exchange(is_first_, false)) return false;
  // After an image was full, one reaches back over hundreds of intervals, but has the values of its last one alone (H200, CUPTI 13.0).
  const auto length = static_cast<double>(info.endTimestamp - info.startTimestamp);
  const double own = by_time_ && interval_time_ > 0 ? interval_time_ : length;
  const uint64_t start = length < 1.5 * own ? info.startTimestamp : info.endTimestamp - static_cast<uint64_t>(own);
  // One begins where the one before it ended: what lies between is what was lost.
  lost_ += lostBetween(last_end_, start, own);
  last_end_ = info.endTimestamp;
  if (!ok(host_.evaluate(image_, index, names_, values_.data()), "cuptiProfilerHostEvaluateToGpuValues")) return false;
  sample = {start, info.endTimestamp, values_.data()};
  return true;
}

void SampleStream::renew() {
  if (object_ == nullptr) return;
  auto fill = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
  fill.pPmSamplingObject = object_;
  fill.counterDataSize = image_.size();
  fill.pCounterData = image_.data();
  ok(api_.cuptiPmSamplingCounterDataImageInitialize(&fill), "cuptiPmSamplingCounterDataImageInitialize");
}

uint64_t SampleStream::takeLost() { return std::exchange(lost_, 0); }

void SampleStream::close() {
  if (object_ == nullptr) return;
  halt();
  auto disable = XSIGMA_COUNTER_PARAMS(CUpti_PmSampling_Disable_Params, pPmSamplingObject);
  disable.pPmSamplingObject = std::exchange(object_, nullptr);
  ok(api_.cuptiPmSamplingDisable(&disable), "cuptiPmSamplingDisable");
}

}  // namespace xsigma::profiler::backends::cupti
