// One number of a Philox stream (base/philox.h) on its own, on the CPU or a GPU.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hopper {

// Philox(seed, purpose, layer, step).Bits(element).
HOPPER_HOST_DEVICE inline uint32_t PhiloxElement(uint64_t seed, uint32_t purpose, uint32_t layer,
                                                 uint64_t step, uint64_t element) {
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = static_cast<uint32_t>(element / 4), c1 = static_cast<uint32_t>(step), c2 = layer,
           c3 = purpose | static_cast<uint32_t>(step >> 32) << 8;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0;
    const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const uint32_t low = element % 2 == 0 ? c0 : c1;
  const uint32_t high = element % 2 == 0 ? c2 : c3;
  return element % 4 < 2 ? low : high;
}

}  // namespace hopper
