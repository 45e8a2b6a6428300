#include "base/blocks.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace hopper {

namespace {

// glibc's malloc maps blocks of 32 MB and more only, once some have been freed; what it keeps of
// the smaller ones depends on their order.
constexpr size_t kMapped = size_t{1} << 20;

// A pass over more memory than the caches hold waits for translated addresses as well: with pages
// of 2 MB, as far as whole ones fit, it takes 0.6 to 0.85 of the time. Smaller blocks stay in
// caches.
constexpr size_t kHugePages = size_t{4} << 20;

}  // namespace

void* AllocateBlock(size_t bytes, bool* zeroed) {
  if (bytes > SIZE_MAX - 64) throw std::bad_alloc();
  if (bytes >= kMapped) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    // A wish: where the system has none, its usual pages serve.
    if (bytes >= kHugePages) madvise(block, bytes, MADV_HUGEPAGE);
#endif
    *zeroed = true;
    return block;
  }
  void* block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (block == nullptr) throw std::bad_alloc();
  *zeroed = false;
  return block;
}

void FreeBlock(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  if (bytes >= kMapped) {
    munmap(block, bytes);
  } else {
    std::free(block);
  }
}

}  // namespace hopper
