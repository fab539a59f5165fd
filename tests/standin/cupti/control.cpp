#include "library.h"
#include "standin.h"

namespace xsigma::standin {

void behave(const Behaviour& behaviour) { Library::get().behave(behaviour); }
Behaviour behaviour() { return Library::get().behaviour(); }
bool load(const std::string& path, std::string* why) { return Library::get().load(path, why); }
std::string expectedJson() { return Library::get().recording().expected; }
std::string devicesJson() { return Library::get().recording().devices; }
std::map<std::string, uint32_t> recordedThreads() {
  std::map<std::string, uint32_t> threads;
  for (const auto& [name, id] : numbersOf(Library::get().recording().threads)) threads[name] = static_cast<uint32_t>(id);
  return threads;
}
void captureGraph(uint32_t part) { Library::get().tellOfNodes(part, true, false); }
void instantiateGraph(uint32_t part) { Library::get().tellOfNodes(part, false, true); }
void play(const Play& play) { Library::get().play(play); }
void call(uint32_t domain, uint32_t cbid, const char* function, int result) {
  Library::get().call(static_cast<CUpti_CallbackDomain>(domain), cbid, function, result);
}
Seen seen() { return Library::get().seen(); }

}  // namespace xsigma::standin
