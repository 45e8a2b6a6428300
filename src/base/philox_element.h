// Philox4x32-10's arithmetic (see base/philox.h): a round of it, and one number of a stream on its
// own, on the CPU or a GPU.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hopper {

constexpr int kPhiloxRounds = 10;

// What a round changes: a block's counter, and the key of the next round.
HOPPER_HOST_DEVICE inline void PhiloxRound(uint32_t k0, uint32_t k1, uint32_t* c0, uint32_t* c1,
                                           uint32_t* c2, uint32_t* c3) {
  const uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * *c0;
  const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57u) * *c2;
  *c0 = static_cast<uint32_t>(p1 >> 32) ^ *c1 ^ k0;
  *c1 = static_cast<uint32_t>(p1);
  *c2 = static_cast<uint32_t>(p0 >> 32) ^ *c3 ^ k1;
  *c3 = static_cast<uint32_t>(p0);
}
HOPPER_HOST_DEVICE inline void NextPhiloxKey(uint32_t* k0, uint32_t* k1) {
  *k0 += 0x9E3779B9u;  // golden ratio
  *k1 += 0xBB67AE85u;  // sqrt(3) - 1
}

// The counter's last word.
HOPPER_HOST_DEVICE inline uint32_t PhiloxStream(uint32_t purpose, uint64_t step) {
  return purpose | static_cast<uint32_t>(step >> 32) << 8;
}

// Of 24 bits, in [0, 1): exact in float32.
HOPPER_HOST_DEVICE inline float PhiloxUniform(uint32_t bits) {
  return static_cast<float>(bits >> 8) * (1.0F / (1 << 24));
}

// Philox(seed, purpose, layer, step).Bits(element).
HOPPER_HOST_DEVICE inline uint32_t PhiloxElement(uint64_t seed, uint32_t purpose, uint32_t layer,
                                                 uint64_t step, uint64_t element) {
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = static_cast<uint32_t>(element / 4), c1 = static_cast<uint32_t>(step), c2 = layer,
           c3 = PhiloxStream(purpose, step);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    PhiloxRound(k0, k1, &c0, &c1, &c2, &c3);
    NextPhiloxKey(&k0, &k1);
  }
  const uint32_t low = element % 2 == 0 ? c0 : c1;
  const uint32_t high = element % 2 == 0 ? c2 : c3;
  return element % 4 < 2 ? low : high;
}

}  // namespace hopper
