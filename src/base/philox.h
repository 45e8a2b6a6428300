// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random
// Numbers: As Easy as 1, 2, 3", SC 2011). A value is a pure function of (seed, purpose, layer,
// step, element); there is no generator state to carry in a hop.
#pragma once

#include <array>
#include <cstdint>

namespace hopper {

// What a stream of random numbers is for; part of the counter, so that streams never overlap.
enum class Purpose : uint32_t {
  kInitialize = 1,
  kShuffle = 2,
  kDropout = 3,
  kSearch = 4,
  kPack = 5,
};

// One Philox4x32-10 block.
std::array<uint32_t, 4> PhiloxBlock(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The stream of (seed, purpose, layer, step). Elements are addressed freely: Bits(i) is a pure
// function, in O(1). The counter is (element / 4 low 32 bits, step low 32 bits, layer,
// purpose | step's high bits << 8); `layer` and `step` are whatever the purpose needs to tell
// its draws apart (for shuffles: partition and pass).
class Philox {
 public:
  Philox(uint64_t seed, Purpose purpose, uint32_t layer, uint64_t step);

  uint32_t Bits(uint64_t element) const;
  // Uniform in [0, 1), 24 bits: exact in float32.
  float Uniform(uint64_t element) const;
  // Uniform in (0, 1), 53 bits from the two elements 2i and 2i + 1; never 0.
  double UniformDouble(uint64_t element) const;
  // Uniform integer in [0, bound), by multiplication and rejection-free 64-bit scaling of
  // elements 2i and 2i + 1; bias below 2^-32 for bound < 2^32.
  uint64_t Below(uint64_t element, uint64_t bound) const;
  // Scales two elements to [0, bound).
  static uint64_t Scale(uint32_t high, uint32_t low, uint64_t bound) {
    const uint64_t bits = static_cast<uint64_t>(high) << 32 | low;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * bound >> 64);
  }
  // Bits(first) ... Bits(first + n - 1) into out; the fast form for masks. `first` is a
  // multiple of 4.
  void Fill(uint64_t first, uint64_t n, uint32_t* out) const;

 private:
  std::array<uint32_t, 2> Pair(uint64_t i) const;

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
};

}  // namespace hopper
