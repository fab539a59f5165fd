#include "backends/cupti/counters/range_contexts.h"

#include <fmt/format.h>

#include <utility>

namespace xsigma::profiler::backends::cupti {

Status RangeContexts::addUsed() {
  const std::vector<UsedContext> contexts = usedContexts(api_);
  for (const UsedContext& used : contexts) {
    if (Status status = open(used.context, used.device); !status) return status;
  }
  if (!contexts.empty()) return {};
  // Nothing to count on yet; what can be said of the names is said now.
  Expected<std::vector<int>> devices = usedDevices(api_);
  if (!devices) return devices.status();
  Expected<MetricPlan> plan = planRanges(api_, metrics_, devices->front(), nullptr);
  if (!plan) return plan.status();
  if (!options_.per_kernel) return requireOnePass(api_, *plan, "one range over the whole session is counted in one");
  return {};
}

RangeSession* RangeContexts::find(CUcontext context) const noexcept {
  const size_t used = used_.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    if (slots_[i].context.load(std::memory_order_acquire) == context) return slots_[i].session.load(std::memory_order_acquire);
  }
  return nullptr;
}

RangeSession* RangeContexts::add(CUcontext context) {
  adding_.take();
  bool known = false;
  for (size_t i = 0; i < used_.load(); ++i) known = known || slots_[i].context.load() == context;
  CUdevice device = 0;
  if (!known && api_.cuCtxGetDevice(&device) == CUDA_SUCCESS) {
    if (Status status = open(context, device); !status && trouble_.empty()) trouble_ = status.message();
  }
  adding_.giveBack();
  return find(context);
}

Status RangeContexts::open(CUcontext context, int device) {
  const size_t index = used_.load();
  if (index == kContexts) return {StatusCode::unsupported, fmt::format("more than {} contexts: the others are not counted", kContexts)};
  Slot& slot = slots_[index];
  slot.context.store(context);
  used_.store(index + 1, std::memory_order_release);
  Expected<MetricPlan> plan = planRanges(api_, metrics_, device, context);
  if (!plan) return plan.status();
  if (!options_.per_kernel) {
    if (Status status = requireOnePass(api_, *plan, "one range over the whole session is counted in one"); !status) return status;
  }
  slot.plan = std::make_unique<MetricPlan>(std::move(*plan));
  Expected<std::unique_ptr<RangeSession>> session = RangeSession::open(api_, *slot.plan, options_, budget_, context, device);
  if (!session) return session.status();
  slot.owned = std::move(*session);
  slot.session.store(slot.owned.get(), std::memory_order_release);
  return {};
}

void RangeContexts::remove(CUcontext context) {
  const size_t used = used_.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    if (slots_[i].context.load(std::memory_order_acquire) != context) continue;
    RangeSession* const session = slots_[i].session.load(std::memory_order_acquire);
    slots_[i].context.store(nullptr);  // another context may get the same address
    if (session == nullptr) continue;
    session->turn.take();
    session->close();
    session->turn.giveBack();
  }
}

}  // namespace xsigma::profiler::backends::cupti
