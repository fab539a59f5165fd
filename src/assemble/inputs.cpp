#include "capture/op_codec.h"
#include "xsigma/profiler/trace.h"

namespace xsigma::profiler {

bool decodeInputs(const PackedInputs& packed, std::vector<RecordedInput>& values, std::vector<std::string>* keys) {
  capture::DecodedInputs decoded;
  const bool sound = capture::decodeValues(packed.words, packed.size, packed.count, packed.keywords, decoded);
  values = std::move(decoded.values);
  if (keys != nullptr) *keys = std::move(decoded.keys);
  return sound;
}

}  // namespace xsigma::profiler
