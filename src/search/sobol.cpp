#include "search/sobol.h"

#include <array>

#include "search/journal.h"
#include "search/sobol_numbers.h"

namespace hopper {
namespace {

using Directions = std::array<std::array<uint32_t, 32>, kMaxDimensions>;

// The recurrence of Bratley and Fox (1988), algorithm 659.
Directions MakeDirections() {
  static_assert(kSobolDimensions >= kMaxDimensions);
  Directions directions{};
  for (size_t i = 0; i < 32; ++i) directions[0][i] = uint32_t{1} << (31 - i);
  for (size_t d = 1; d < kMaxDimensions; ++d) {
    const SobolPolynomial& polynomial = kSobolNumbers[d];
    std::array<uint32_t, 32>& v = directions[d];
    const size_t degree = polynomial.degree;
    for (size_t i = 0; i < 32; ++i) {
      if (i < degree) {
        v[i] = polynomial.initial[i] << (31 - i);
        continue;
      }
      v[i] = v[i - degree] ^ (v[i - degree] >> degree);
      for (size_t k = 1; k < degree; ++k) {
        if ((polynomial.coefficients >> (degree - 1 - k) & 1) != 0) v[i] ^= v[i - k];
      }
    }
  }
  return directions;
}

}  // namespace

uint32_t SobolBits(uint32_t index, size_t dimension) {
  static const Directions kDirections = MakeDirections();
  uint32_t bits = 0;
  uint32_t gray = index ^ (index >> 1);
  for (size_t i = 0; gray != 0; ++i, gray >>= 1) {
    if ((gray & 1) != 0) bits ^= kDirections[dimension][i];
  }
  return bits;
}

uint32_t OwenScrambled(uint32_t bits, size_t dimension, uint64_t seed) {
  const Philox random(seed, Purpose::kSearch, kSobolStream, dimension);
  uint32_t scrambled = 0;
  for (uint32_t depth = 0; depth < 32; ++depth) {
    // Nodes of a binary tree, numbered as in a heap: the bits above say which.
    const uint64_t above = depth == 0 ? 0 : bits >> (32 - depth);
    const uint64_t node = (uint64_t{1} << depth) + above;
    const uint32_t bit = bits >> (31 - depth) & 1;
    scrambled |= (bit ^ (random.Bits(node) & 1)) << (31 - depth);
  }
  return scrambled;
}

}  // namespace hopper
