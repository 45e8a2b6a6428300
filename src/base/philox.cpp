#include "base/philox.h"

#include <cstring>

#include "base/philox_element.h"

namespace hopper {
namespace {

// Blocks that Fill() computes side by side: too many for the compiler to unroll the loops over
// them before it can vectorise them.
constexpr int kLanes = 64;

// Blocks first_block ... first_block + kLanes - 1 of a stream, in order, into out. Loops over
// lanes, innermost and without branches, are what the compiler turns into vector code.
inline __attribute__((always_inline)) void LanesOfBlocks(const uint32_t* counter,
                                                         const uint32_t* key, uint32_t first_block,
                                                         uint32_t* out) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    c0[i] = first_block + static_cast<uint32_t>(i);
    c1[i] = counter[1];
    c2[i] = counter[2];
    c3[i] = counter[3];
  }
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (int i = 0; i < kLanes; ++i) PhiloxRound(k0, k1, c0 + i, c1 + i, c2 + i, c3 + i);
    NextPhiloxKey(&k0, &k1);
  }
  for (int i = 0; i < kLanes; ++i) {
    out[4 * i] = c0[i];
    out[4 * i + 1] = c1[i];
    out[4 * i + 2] = c2[i];
    out[4 * i + 3] = c3[i];
  }
}

using FillGroups = void (*)(const uint32_t* counter, const uint32_t* key, uint32_t first_block,
                            uint64_t groups, uint32_t* out);

inline __attribute__((always_inline)) void FillAll(const uint32_t* counter, const uint32_t* key,
                                                   uint32_t first_block, uint64_t groups,
                                                   uint32_t* out) {
  for (uint64_t g = 0; g < groups; ++g) {
    LanesOfBlocks(counter, key, first_block + static_cast<uint32_t>(g) * kLanes,
                  out + g * 4 * kLanes);
  }
}

void FillGroupsPlain(const uint32_t* counter, const uint32_t* key, uint32_t first_block,
                     uint64_t groups, uint32_t* out) {
  FillAll(counter, key, first_block, groups, out);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) void FillGroupsAvx2(const uint32_t* counter, const uint32_t* key,
                                                    uint32_t first_block, uint64_t groups,
                                                    uint32_t* out) {
  FillAll(counter, key, first_block, groups, out);
}
__attribute__((target("avx512f,avx512dq"))) void FillGroupsAvx512(const uint32_t* counter,
                                                                  const uint32_t* key,
                                                                  uint32_t first_block,
                                                                  uint64_t groups, uint32_t* out) {
  FillAll(counter, key, first_block, groups, out);
}

FillGroups BestFillGroups() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return FillGroupsAvx512;
  }
  return __builtin_cpu_supports("avx2") ? FillGroupsAvx2 : FillGroupsPlain;
}
#else
FillGroups BestFillGroups() { return FillGroupsPlain; }
#endif

}  // namespace

std::array<uint32_t, 4> PhiloxBlock(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    PhiloxRound(key[0], key[1], &counter[0], &counter[1], &counter[2], &counter[3]);
    NextPhiloxKey(&key[0], &key[1]);
  }
  return counter;
}

Philox::Philox(uint64_t seed, Purpose purpose, uint32_t layer, uint64_t step)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      counter_{0, static_cast<uint32_t>(step), layer,
               PhiloxStream(static_cast<uint32_t>(purpose), step)} {}

uint32_t Philox::Bits(uint64_t element) const {
  std::array<uint32_t, 4> counter = counter_;
  counter[0] = static_cast<uint32_t>(element / 4);
  return PhiloxBlock(counter, key_)[element % 4];
}

float Philox::Uniform(uint64_t element) const { return PhiloxUniform(Bits(element)); }

// Elements 2i and 2i + 1, which lie in one block.
std::array<uint32_t, 2> Philox::Pair(uint64_t i) const {
  std::array<uint32_t, 4> counter = counter_;
  counter[0] = static_cast<uint32_t>(i / 2);
  const std::array<uint32_t, 4> block = PhiloxBlock(counter, key_);
  return i % 2 == 0 ? std::array<uint32_t, 2>{block[0], block[1]}
                    : std::array<uint32_t, 2>{block[2], block[3]};
}

double Philox::UniformDouble(uint64_t element) const {
  const std::array<uint32_t, 2> pair = Pair(element);
  const uint64_t bits = static_cast<uint64_t>(pair[0]) << 32 | pair[1];
  // The middle of one of 2^52 equal intervals: 53 significant bits, neither end reached.
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

uint64_t Philox::Below(uint64_t element, uint64_t bound) const {
  const std::array<uint32_t, 2> pair = Pair(element);
  return Scale(pair[0], pair[1], bound);
}

void Philox::Fill(uint64_t first, uint64_t n, uint32_t* out) const {
  static const FillGroups fill_groups = BestFillGroups();
  const uint64_t groups = n / (4 * kLanes);
  auto block = static_cast<uint32_t>(first / 4);
  fill_groups(counter_.data(), key_.data(), block, groups, out);
  uint64_t done = groups * 4 * kLanes;
  block += static_cast<uint32_t>(groups) * kLanes;
  if (done < n) {
    uint32_t tail[4 * kLanes];
    LanesOfBlocks(counter_.data(), key_.data(), block, tail);
    std::memcpy(out + done, tail, (n - done) * sizeof(uint32_t));
  }
}

}  // namespace hopper
