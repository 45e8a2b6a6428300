#include "base/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace hopper {
namespace {

using Block = std::array<uint32_t, 4>;

// The known-answer vectors that the authors publish with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(PhiloxBlock({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(PhiloxBlock({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(PhiloxBlock({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterAndKeyAreLaidOutAsDocumented) {
  const uint64_t seed = 0x0123456789abcdefu, step = 0x1200000034u;
  const Philox stream(seed, Purpose::kDropout, 77, step);
  const Block block = PhiloxBlock({5, 0x34, 77, 3u | 0x12u << 8}, {0x89abcdef, 0x01234567});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(stream.Bits(20 + i), block[i]);
}

TEST(Philox, FillEqualsBitsForEveryLengthAndStart) {
  const Philox stream(42, Purpose::kShuffle, 3, 9);
  for (const uint64_t first : {0, 4, 256, 1000, 4000}) {
    for (const uint64_t n : {0, 1, 3, 4, 5, 255, 256, 257, 511, 512, 1000}) {
      std::vector<uint32_t> out(n + 1, 0xdeadbeef);
      stream.Fill(first, n, out.data());
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(out[i], stream.Bits(first + i)) << first << " + " << i << " of " << n;
      }
      EXPECT_EQ(out[n], 0xdeadbeef) << "wrote past the end";
    }
  }
}

TEST(Philox, FillCrossesTheBlockCountersEnd) {
  const Philox stream(1, Purpose::kPack, 0, 0);
  const uint64_t first = (uint64_t{1} << 34) - 512;
  std::vector<uint32_t> out(1024);
  stream.Fill(first, out.size(), out.data());
  for (uint64_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], stream.Bits(first + i));
}

TEST(Philox, StreamsDiffer) {
  std::set<uint32_t> firsts;
  int streams = 0;
  for (const uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const Purpose purpose : {Purpose::kInitialize, Purpose::kSearch}) {
      for (const uint32_t layer : {0u, 1u}) {
        for (const uint64_t step : {0ull, 1ull, 1ull << 32}) {
          firsts.insert(Philox(seed, purpose, layer, step).Bits(0));
          ++streams;
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int>(firsts.size()), streams);
}

// Kolmogorov-Smirnov against the uniform distribution; 1.95 / sqrt(n) is passed by chance once in
// a thousand, and the stream is fixed.
template <typename Draw>
void ExpectUniform(Draw draw) {
  constexpr int n = 100000;
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i) values[i] = draw(i);
  std::sort(values.begin(), values.end());
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    worst = std::max(
        {worst, std::fabs(values[i] - i / double{n}), std::fabs(values[i] - (i + 1) / double{n})});
  }
  EXPECT_LT(worst, 1.95 / std::sqrt(double{n}));
}

TEST(Philox, UniformNumbersAreUniformAndInRange) {
  const Philox stream(7, Purpose::kInitialize, 1, 0);
  ExpectUniform([&](int i) { return stream.Uniform(i); });
  ExpectUniform([&](int i) { return stream.UniformDouble(i); });
  ExpectUniform([&](int i) { return (stream.Below(i, 1000000) + 0.5) / 1e6; });
  for (int i = 0; i < 100000; ++i) {
    ASSERT_GE(stream.Uniform(i), 0.0f);
    ASSERT_LT(stream.Uniform(i), 1.0f);
    ASSERT_GT(stream.UniformDouble(i), 0.0);
    ASSERT_LT(stream.UniformDouble(i), 1.0);
    ASSERT_LT(stream.Below(i, 3), 3u);
  }
}

}  // namespace
}  // namespace hopper
