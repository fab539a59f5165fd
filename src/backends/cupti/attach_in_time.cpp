#include "backends/cupti/attach_in_time.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <utility>

#include "backends/cupti/buffer_pool.h"
#include "backends/cupti/cupti_threads.h"
#include "base/driver_init.h"
#include "base/own_thread.h"

namespace xsigma::profiler::backends::cupti {
namespace {

struct Attempt {
  std::mutex mutex;
  std::optional<Expected<std::unique_ptr<Attachment>>> result;
  bool given_up = false;
};

}  // namespace

Expected<std::unique_ptr<Attachment>> attachInTime(const CuptiLibrary& cupti, const BackendRequest& request, std::shared_ptr<void> held) {
  // The driver is being initialised by this very thread: nobody else is inside, and another thread would wait for it.
  if (base::insideDriverInit()) return Attachment::attach(cupti, request);
  const auto attempt = std::make_shared<Attempt>();
  const bool ended = base::endsWithin(kMostAttaching, "xsp-attach", [attempt, &cupti, request, held = std::move(held)] {
    CuptiThreads::ofProcess().noteThis();
    Expected<std::unique_ptr<Attachment>> result = Attachment::attach(cupti, request);
    {
      const std::lock_guard<std::mutex> lock(attempt->mutex);
      if (!attempt->given_up) {
        attempt->result = std::move(result);
        return;
      }
    }
    if (result) (*result)->detach();
    BufferPool::ofProcess().release();
  });
  const std::lock_guard<std::mutex> lock(attempt->mutex);
  if (attempt->result.has_value()) return *std::move(attempt->result);
  attempt->given_up = true;
  if (ended) return Status(StatusCode::io_error, "there is no memory for watching CUDA devices");
  return Status(StatusCode::busy,
                fmt::format("the driver did not let CUPTI in within {} s: threads of this program call CUDA without a pause. Call "
                            "prepareProfiler() before they begin, or try again when they rest",
                            kMostAttaching.count()));
}

}  // namespace xsigma::profiler::backends::cupti
