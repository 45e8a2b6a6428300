// Sobol's sequence in up to kMaxDimensions dimensions, and its scrambling.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hopper {

// Coordinate `dimension` of point `index`, in units of 2^-32. Points come in the order of Gray's
// code (Antonov, Saleev 1979), from the origin on.
uint32_t SobolBits(uint32_t index, size_t dimension);

// Nested uniform scrambling (Owen 1995): each bit is turned or not by a random number of its own
// for each value of the bits above it. Any 2^k first points still lie one in each interval of 2^-k.
uint32_t OwenScrambled(uint32_t bits, size_t dimension, uint64_t seed);

}  // namespace hopper
