// In place of the averages, where the library is built with XSIGMA_ENABLE_KINETO=OFF.
#include "xsigma/profiler/key_averages.h"

namespace xsigma::profiler {

struct KeyAverages::Contents {};

namespace {

[[noreturn]] void refuse(const char* call) {
  throw ProfilerError(std::string(call) +
                      ": this library was built with XSIGMA_ENABLE_KINETO=OFF, without captures. Build it with XSIGMA_ENABLE_KINETO=ON");
}

}  // namespace

KeyAverages::KeyAverages() = default;
KeyAverages::KeyAverages(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}
const std::vector<KeyAverage>& KeyAverages::rows() const& {
  static const std::vector<KeyAverage> none;
  return none;
}
const KeyAverage& KeyAverages::at(std::string_view) const& { refuse("KeyAverages::at"); }
int64_t KeyAverages::selfCpuTotalNs() const { return 0; }
int64_t KeyAverages::deviceBusyNs() const { return 0; }
int64_t KeyAverages::wallNs() const { return 0; }
uint64_t KeyAverages::threads() const { return 0; }
uint64_t KeyAverages::unfinished() const { return 0; }
uint64_t KeyAverages::lost() const { return 0; }
uint64_t KeyAverages::lostOfDevices() const { return 0; }
std::string KeyAverages::table(const TableOptions&) const { refuse("KeyAverages::table"); }
std::string KeyAverages::csv(std::string_view) const { refuse("KeyAverages::csv"); }
std::string KeyAverages::json(std::string_view) const { refuse("KeyAverages::json"); }
void KeyAverages::save(const std::string&) const { refuse("KeyAverages::save"); }
void KeyAverages::save(const std::string&, const TableOptions&) const { refuse("KeyAverages::save"); }

KeyAverages keyAverages(const Capture&, const GroupBy&) { refuse("keyAverages"); }
KeyAverages keyAverages(const std::vector<Capture>&, const GroupBy&) { refuse("keyAverages"); }
void exportStacks(const Capture&, const std::string&, std::string_view) { refuse("exportStacks"); }

}  // namespace xsigma::profiler
