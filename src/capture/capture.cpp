#include "xsigma/profiler/capture.h"

#include <fmt/format.h>

#include "base/output_file.h"
#include "capture/record_decode.h"
#include "capture/source.h"

namespace xsigma::profiler {

// An empty capture reads as one: no threads, no records.
Capture::Capture() : source_(std::make_shared<Source>(capture::bytesImage(std::vector<char>(capture::kPageBytes)), "")) {}
Capture::Capture(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

const CaptureInfo& Capture::info() const { return source_->contents().info; }
const std::vector<ThreadInfo>& Capture::threads() const { return source_->contents().threads; }
const std::vector<CaptureProperty>& Capture::properties() const { return source_->contents().tables.properties(); }
const std::vector<Damage>& Capture::damages() const { return source_->contents().damages; }
Ledger Capture::ledger() const { return capture::countLedger(*source_); }
int64_t Capture::toMonotonicNs(uint64_t ticks) const { return source_->contents().clock.toMonotonicNs(ticks); }

void Capture::forEachRecord(const std::function<void(const CaptureRecord&)>& visit) const {
  for (const capture::Segment& segment : source_->contents().segments) capture::decodeSegment(*source_, segment, visit);
}

Status Capture::save(const std::string& path) const {
  Expected<base::OutputFile> file = base::OutputFile::create(path, "the capture");
  if (!file) return file.status();
  std::vector<char> buffer(size_t{256} * 1024);
  const capture::Image& image = source_->image();
  const uint64_t size = image.size();
  for (uint64_t offset = 0; offset < size;) {
    const size_t bytes = image.read(offset, buffer.data(), buffer.size());
    if (bytes == 0) break;
    if (Status status = file->write({buffer.data(), bytes}); !status) return status;
    offset += bytes;
  }
  return file->finish();
}

Expected<Capture> openCapture(const std::string& path) {
  Expected<std::shared_ptr<const capture::Image>> image = capture::openFileImage(path);
  if (!image) return image.status();
  const Status status = capture::checkHeader(**image, fmt::format("'{}'", path));
  if (!status) return status;
  return Capture(std::make_shared<Capture::Source>(std::move(*image), path));
}

}  // namespace xsigma::profiler
