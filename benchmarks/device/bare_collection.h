// The floor of device recording: CUPTI with kernel and runtime records, whose buffers are given back unread.
#pragma once

#include <cstdint>
#include <string>

namespace launch_cost {

class BareCollection {
 public:
  // Opens the library and switches the kinds on; with_correlation: records of external correlation as well. Ends the program with a reason if it cannot.
  explicit BareCollection(bool with_correlation);
  ~BareCollection() { stop(); }
  BareCollection(const BareCollection&) = delete;
  BareCollection& operator=(const BareCollection&) = delete;

  // Of the calling thread, around what is launched in between.
  void push(uint64_t id);
  void pop();

  // Switches everything off and lets the records go.
  void stop();
  uint64_t bytes() const;  // of records that came

 private:
  bool with_correlation_;
  bool on_ = true;
};

}  // namespace launch_cost
