// Decoder: CUPTI's records of one run, as activities. The worker's thread only.
#pragma once

#include <cstdint>
#include <map>

#include "backends/cupti/call_decoder.h"
#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/cupti_library.h"
#include "backends/cupti/device_rows.h"
#include "backends/cupti/graph_nodes.h"
#include "backends/cupti/memory_decoder.h"
#include "backends/cupti/note_decoder.h"
#include "backends/cupti/work_decoder.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::backends::cupti {

class Decoder {
 public:
  // `driver` may be null.
  Decoder(const CuptiLibrary& cupti, const CudaDriver* driver, const BackendRequest& request, BackendOutput& output);

  // Throws std::bad_alloc; the record is lost then.
  void put(const CUpti_Activity& record);
  void put(const GraphNode& node);
  void lost(DeviceLoss cause, uint64_t count) { output_.lost(cause, count); }
  // A period of the worker has passed.
  void tick();
  // Records come that are not complete: what still runs has no end, and is no loss.
  void expectIncomplete() { work_.expectIncomplete(); }
  // After the last record.
  void finish();

 private:
  void putWork(bool put);
  void putOverhead(const OverheadRecord& record);
  void putUnknown(uint32_t kind);

  uint32_t version_;
  int process_id_;
  BackendOutput& output_;
  DeviceRows rows_;
  WorkDecoder work_;
  CallDecoder calls_;
  NoteDecoder notes_;
  MemoryDecoder memory_;
  std::map<uint32_t, uint64_t> unknown_;  // how many of which kind
};

}  // namespace xsigma::profiler::backends::cupti
