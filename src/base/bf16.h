// bfloat16: the upper half of a float32.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.h"

namespace hopper {

// The nearest bfloat16, ties to even; what overflows becomes infinity, NaN stays NaN (quiet), and
// subnormal numbers become zeros of their sign. That is what the processor's VCVTNEPS2BF16 does
// (Intel's instruction set reference), and libtorch but for the subnormals. Without a branch, so
// that loops become vector code.
HOPPER_HOST_DEVICE inline uint16_t ToBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  uint32_t kept = magnitude < 0x00800000U ? bits & 0x80000000U : rounded;
  kept = magnitude > 0x7F800000U ? bits | 0x00400000U : kept;
  return static_cast<uint16_t>(kept >> 16);
}

inline float FromBf16(uint16_t x) {
  const uint32_t bits = static_cast<uint32_t>(x) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace hopper
