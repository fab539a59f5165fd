#include "xsigma/profiler/ledger.h"
#include "xsigma/profiler/record.h"

namespace xsigma::profiler {

const char* toString(RecordKind kind) noexcept {
  switch (kind) {
    case RecordKind::scope_begin: return "scope_begin";
    case RecordKind::scope_end: return "scope_end";
    case RecordKind::async_begin: return "async_begin";
    case RecordKind::async_end: return "async_end";
    case RecordKind::instant: return "instant";
    case RecordKind::counter: return "counter";
    case RecordKind::memory: return "memory";
    case RecordKind::out_of_memory: return "out_of_memory";
    case RecordKind::given_event: return "given_event";
    case RecordKind::external_id_push: return "external_id_push";
    case RecordKind::external_id_pop: return "external_id_pop";
    case RecordKind::metadata: return "metadata";
    case RecordKind::op_info: return "op_info";
    case RecordKind::inputs: return "inputs";
  }
  return "";
}

const char* toString(LossCause cause) noexcept {
  switch (cause) {
    case LossCause::overwritten: return "overwritten";
    case LossCause::cap_reached: return "cap_reached";
    case LossCause::no_chunk: return "no_chunk";
    case LossCause::reentrant: return "reentrant";
    case LossCause::disk_full: return "disk_full";
    case LossCause::late: return "late";
    case LossCause::damaged: return "damaged";
  }
  return "";
}

}  // namespace xsigma::profiler
