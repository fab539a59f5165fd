// Library: the state behind CUPTI's functions. The lock that they take is never held while a callback of the client runs.
#pragma once

#include <cupti_activity.h>
#include <cupti_callbacks.h>

#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "recording.h"
#include "standin.h"

namespace xsigma::standin {

class Library {
 public:
  static Library& get();

  // ---- the test's side
  void behave(const Behaviour& behaviour);
  Behaviour behaviour();
  bool load(const std::string& path, std::string* why);
  const Recording& recording() const { return recording_; }
  void play(const Play& play);
  // Of nodes that were captured, and of copies of them.
  void tellOfNodes(uint32_t part, bool captured, bool copied);
  void call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const char* function, int result);
  Seen seen();

  // ---- the client's side
  uint32_t version();
  CUptiResult initialised();  // what a function answers that needs the driver
  CUptiResult subscribe(CUpti_CallbackFunc callback, void* data);
  CUptiResult unsubscribe();
  CUptiResult enableCallback(bool on, CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
  CUptiResult enable(CUpti_ActivityKind kind, bool on);
  CUptiResult enableCall(CUpti_ActivityKind kind, CUpti_CallbackId cbid, bool on);
  CUptiResult registerBuffers(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed);
  CUptiResult registerClock(uint64_t (*clock)());
  CUptiResult nextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record);
  CUptiResult flush(bool forced);
  CUptiResult takeDropped(size_t* dropped);
  CUptiResult finalize();
  uint64_t now();
  void note(void (*change)(Seen&));

 private:
  static constexpr CUpti_CallbackId kEveryCall = ~CUpti_CallbackId{0};

  struct Buffer {
    uint8_t* bytes = nullptr;
    size_t size = 0;
    size_t used = 0;
    size_t records = 0;
    size_t max_records = 0;
    std::vector<size_t> undone;  // where records are of work that the device is not done with
  };
  struct Times {
    bool as_recorded = true;
    long double from = 0, to = 0;  // of the recording
    uint64_t now_from = 0, now_to = 0;
    uint64_t operator()(uint64_t recorded) const;
  };

  bool isWanted(const std::vector<uint8_t>& record);
  std::vector<uint8_t> rewritten(const uint8_t* record, size_t bytes, const Play& play, const Times& times) const;
  Times timesOf(const Play& play);
  static bool isWork(const std::vector<uint8_t>& record);
  static void withoutTimes(Buffer& buffer);
  void write(const std::vector<uint8_t>& record);
  void complete(const Buffer& buffer, bool on_another_thread);

  std::mutex writing_;  // one record after another, callbacks for buffers included
  std::mutex mutex_;
  Behaviour behaviour_;
  Recording recording_;
  Seen seen_;
  CUpti_CallbackFunc callback_ = nullptr;
  void* callback_data_ = nullptr;
  std::set<std::pair<uint32_t, CUpti_CallbackId>> callbacks_on_;
  std::set<std::pair<uint32_t, CUpti_CallbackId>> calls_off_;  // by kind
  CUpti_BuffersCallbackRequestFunc requested_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed_ = nullptr;
  uint64_t (*clock_)() = nullptr;
  uint64_t enabled_at_ = 0;
  std::optional<Buffer> filling_;
  size_t dropped_ = 0;
  std::map<uint32_t, size_t> bytes_of_kind_;
  std::vector<Buffer> waiting_;  // full, but with work that is not done
  int late_flushes_ = 0;
};

}  // namespace xsigma::standin
