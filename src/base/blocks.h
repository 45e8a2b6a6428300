// Raw memory for arrays, aligned to 64 bytes. Large blocks are mappings of their own: what is
// freed goes back to the system at once, so that a process takes what is in use and no more.
#pragma once

#include <cstddef>

namespace hopper {

// `*zeroed` tells whether the bytes are known to be zero. Throws std::bad_alloc.
void* AllocateBlock(size_t bytes, bool* zeroed);
// `bytes` as it was allocated; null is allowed.
void FreeBlock(void* block, size_t bytes) noexcept;

}  // namespace hopper
