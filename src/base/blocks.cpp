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

}  // namespace

void* AllocateBlock(size_t bytes, bool* zeroed) {
  if (bytes > SIZE_MAX - 64) throw std::bad_alloc();
  if (bytes >= kMapped) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
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
