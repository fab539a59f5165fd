// The floor of device recording: CUPTI with kernel and runtime records, whose buffers are given back unread.
#pragma once

#include <cstdint>
#include <string>

namespace launch_cost {

class BareCollection {
 public:
  // Opens the library and switches the kinds on. Ends the program with a reason if it cannot.
  struct Also {
    bool correlation = false;  // records of external correlation
    bool usual = false;        // what a session of ours records by default: driver calls, copies, fills, overhead
  };
  explicit BareCollection(Also also);
  ~BareCollection() { stop(); }
  BareCollection(const BareCollection&) = delete;
  BareCollection& operator=(const BareCollection&) = delete;

  // Of the calling thread, around what is launched in between.
  void push(uint64_t id);
  void pop();

  // Switches everything off and lets the records go.
  void stop();
  // That, and CUPTI is taken out of the process. Nothing may run on the device.
  void leave();
  uint64_t bytes() const;  // of records that came

 private:
  void switchKinds(bool on) const;

  Also also_;
  bool on_ = true;
};

}  // namespace launch_cost
