#include "xsigma/profiler/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "capture/record_decode.h"
#include "capture/source.h"

namespace xsigma::profiler {

// An empty capture reads as one: no threads, no records.
Capture::Capture() : source_(std::make_shared<Source>(capture::bytesImage(std::vector<char>(capture::kPageBytes)), "")) {}
Capture::Capture(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

const CaptureInfo& Capture::info() const { return source_->contents().info; }
const std::vector<ThreadInfo>& Capture::threads() const { return source_->contents().threads; }
const std::vector<Damage>& Capture::damages() const { return source_->contents().damages; }
Ledger Capture::ledger() const { return capture::countLedger(*source_); }
int64_t Capture::toMonotonicNs(uint64_t ticks) const { return source_->contents().clock.toMonotonicNs(ticks); }

void Capture::forEachRecord(const std::function<void(const CaptureRecord&)>& visit) const {
  for (const capture::Segment& segment : source_->contents().segments) capture::decodeSegment(*source_, segment, visit);
}

Status Capture::save(const std::string& path) const {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const auto failed = [&](const char* step) {
    Status status(StatusCode::io_error, fmt::format("cannot save the capture as '{}': {}: {}. Choose a folder that exists, can be written to and "
                                                    "has room; folders are not created",
                                                    path, step, std::strerror(errno)));
    unlink(temporary.c_str());
    return status;
  };
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed("creating it");
  std::vector<char> buffer(size_t{256} * 1024);
  const capture::Image& image = source_->image();
  const uint64_t size = image.size();
  for (uint64_t offset = 0; offset < size;) {
    const size_t bytes = image.read(offset, buffer.data(), buffer.size());
    if (bytes == 0) break;
    for (size_t done = 0; done < bytes;) {
      const ssize_t wrote = write(file, buffer.data() + done, bytes - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        close(file);
        return failed("writing it");
      }
      done += static_cast<size_t>(wrote);
    }
    offset += bytes;
  }
  const bool synced = fsync(file) == 0;
  if (close(file) != 0 || !synced) return failed("writing it");
  if (rename(temporary.c_str(), path.c_str()) != 0) return failed("naming it");
  return {};
}

Expected<Capture> openCapture(const std::string& path) {
  Expected<std::shared_ptr<const capture::Image>> image = capture::openFileImage(path);
  if (!image) return image.status();
  const Status status = capture::checkHeader(**image, fmt::format("'{}'", path));
  if (!status) return status;
  return Capture(std::make_shared<Capture::Source>(std::move(*image), path));
}

}  // namespace xsigma::profiler
