// Capture::Source: an image, and what a first look at it has found. The look is taken once, by whoever asks first.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capture/image.h"
#include "capture/segment_index.h"
#include "capture/tables.h"
#include "capture/tick_clock.h"
#include "xsigma/profiler/capture.h"

namespace xsigma::profiler {

struct Capture::Source {
  Source(std::shared_ptr<const capture::Image> image, std::string path);

  // Everything that a pass over the blocks finds.
  struct Contents {
    explicit Contents(uint64_t bytes) : tables(bytes) {}

    CaptureInfo info;
    capture::Damages damages;
    capture::Tables tables;
    std::vector<ThreadInfo> threads;
    std::vector<capture::Segment> segments;  // by thread, then by number
    capture::TickClock clock;
    std::array<uint64_t, kLossCauses> unattributed{};
    uint64_t extras_dropped = 0;
    uint64_t names_dropped = 0;
    uint64_t threads_dropped = 0;
  };
  const Contents& contents() const;
  const capture::Image& image() const { return *image_; }

 private:
  std::unique_ptr<Contents> look() const;

  std::shared_ptr<const capture::Image> image_;
  std::string path_;
  mutable std::once_flag looked_;
  mutable std::unique_ptr<Contents> contents_;
};

namespace capture {

// Whether this is a capture that we can read: magic, version, header.
Status checkHeader(const Image& image, const std::string& what);
Ledger countLedger(const Capture::Source& source);

}  // namespace capture
}  // namespace xsigma::profiler
