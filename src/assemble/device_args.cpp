#include "assemble/device_args.h"

#include <bit>

#include "base/json_text.h"
#include "capture/device_codec.h"
#include "xsigma/profiler/backend.h"

namespace xsigma::profiler::assemble {

void appendDeviceArgs(std::string& out, std::string_view form, std::string_view packed_values, int64_t duration_ns, const capture::Tables& tables) {
  capture::DeviceValues values(packed_values);
  for (const char c : form) {
    switch (c) {
      case kArgInteger: base::appendInteger(out, values.next()); break;
      case kArgReal: base::appendReal(out, std::bit_cast<double>(values.next())); break;
      case kArgRate: {
        const auto amount = static_cast<double>(values.next());
        base::appendReal(out, duration_ns > 0 ? amount / static_cast<double>(duration_ns) : 0.0);
        break;
      }
      case kArgText: {
        const capture::Tables::ResolvedSite* const text = tables.site(static_cast<uint32_t>(values.next()));
        out += base::quoted(text != nullptr ? text->name : std::string_view());
        break;
      }
      default: out += c;
    }
  }
}

}  // namespace xsigma::profiler::assemble
