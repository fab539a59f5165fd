#include "base/arena.h"

#include <sys/mman.h>

namespace xsigma::profiler::base {
namespace {

constexpr size_t kSlabBytes = size_t{256} * 1024;
constinit char* next_free = nullptr;
constinit char* slab_end = nullptr;

char* mapPages(size_t bytes) noexcept {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
}

}  // namespace

void* allocateForever(size_t bytes, size_t alignment) noexcept {
  if (bytes >= kSlabBytes / 4) return mapPages(bytes);
  size_t skip = -reinterpret_cast<size_t>(next_free) & (alignment - 1);
  if (next_free == nullptr || static_cast<size_t>(slab_end - next_free) < skip + bytes) {
    char* const slab = mapPages(kSlabBytes);
    if (slab == nullptr) return nullptr;
    next_free = slab;
    slab_end = slab + kSlabBytes;
    skip = 0;
  }
  char* const found = next_free + skip;
  next_free = found + bytes;
  return found;
}

}  // namespace xsigma::profiler::base
