// A library with an exported and a static function, to be found by name after it is unloaded.
#include <cstddef>
#include <cstdint>

using Capture = size_t (*)(uint64_t* frames, size_t most, unsigned skip) noexcept;

namespace symbolized {

// The assembly keeps the calls from being tail calls.
[[gnu::noinline]] static size_t hiddenStep(Capture capture, uint64_t* frames, size_t most) {
  const size_t count = capture(frames, most, 0);
  asm volatile("" ::: "memory");
  return count;
}

}  // namespace symbolized

extern "C" __attribute__((visibility("default"))) size_t exportedStep(Capture capture, uint64_t* frames, size_t most) {
  const size_t count = symbolized::hiddenStep(capture, frames, most);
  asm volatile("" : : "r"(frames) : "memory");
  return count;
}
