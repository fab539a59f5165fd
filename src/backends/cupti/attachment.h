// Attachment: this process's hold on CUPTI, from subscribing to letting go. CUPTI serves one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cupti/callback_listener.h"
#include "backends/cupti/cupti_library.h"
#include "backends/cupti/kinds.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class Attachment {
 public:
  // Subscribes, and sets everything up that must be before records are asked for. Nothing is recorded yet.
  // An error leaves CUPTI as it was; one that says that another tool has it names who it may be.
  static Expected<std::unique_ptr<Attachment>> attach(const CuptiLibrary& cupti, const BackendRequest& request);
  // Lets go if nobody has.
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  // All kinds that the request needs. An error: one that it cannot be without was refused; nothing is recorded then.
  Status enable();
  // Not while another thread is in enable().
  void disable() noexcept;
  // From now on until detach(); before enable(). It is kept for ever if a thread is inside of it then.
  void listen(std::shared_ptr<CallbackListener> listener, const std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>>& callbacks);
  // Nodes of graphs and the program's marks are no longer told.
  void disableCallbacks() noexcept;
  // Those that were asked for while the driver initialises are forgotten by it: asks again.
  void renewCallbacks() noexcept;
  // No callback comes any more, and another tool may have it. CUPTI stays in the process.
  void letGo() noexcept;
  // After the last flush: the same, and CUPTI is taken out of the process as soon as it may be, so that launches cost what they did before.
  void detach() noexcept;

  // What was refused of what is not needed: "\"events\": \"CUPTI_ERROR…\", …"; "" if nothing was.
  const std::string& refused() const { return refused_; }

 private:
  Attachment(const CuptiLibrary& cupti, const BackendRequest& request) : cupti_(cupti), kinds_(wantedKinds(request)), request_(request) {}

  CUptiResult enableOne(CUpti_ActivityKind kind);
  void enableCallbacks(uint32_t on) noexcept;
  void forgetListener() noexcept;

  const CuptiLibrary& cupti_;
  std::vector<WantedKind> kinds_;
  BackendRequest request_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::shared_ptr<CallbackListener> listener_;
  std::vector<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> listened_;
  std::string refused_;
  std::atomic<bool> callbacks_wanted_{false};
  bool attached_ = false;
};

}  // namespace xsigma::profiler::backends::cupti
