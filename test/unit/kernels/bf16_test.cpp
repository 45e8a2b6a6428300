// Products of bfloat16 numbers on every instruction set that this processor has, bit for bit
// against NumPy and ml_dtypes (test/baseline/generate_bf16_tables.py).
#include "kernels/bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/bf16.h"
#include "base/philox.h"
#include "baseline_table.h"

namespace hopper {
namespace {

const BaselineTable& Table() {
  static const BaselineTable table("bf16.safetensors");
  return table;
}

std::vector<const Bf16Kernels*> Sets() {
  std::vector<const Bf16Kernels*> sets = {BaselineBf16Kernels()};
  if (Avx2Bf16Kernels() != nullptr) sets.push_back(Avx2Bf16Kernels());
  if (Avx512Bf16Kernels() != nullptr) sets.push_back(Avx512Bf16Kernels());
  return sets;
}

uint32_t Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

// Equal bits, or NaN and quiet NaN.
void ExpectRounded(float input, float expected, uint16_t got) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(FromBf16(got)) && (got & 0x40) != 0) << std::hex << Bits(input);
  } else {
    EXPECT_EQ(Bits(expected), Bits(FromBf16(got))) << std::hex << Bits(input);
  }
}

TEST(Bf16, RoundsAsMlDtypes) {
  const nlohmann::json rounding = {{"name", "rounding"}};
  const std::vector<float>& input = Table().Get(rounding, "input").values;
  const std::vector<float>& output = Table().Get(rounding, "output").values;
  ASSERT_GT(input.size(), 3000U);
  for (size_t i = 0; i < input.size(); ++i) ExpectRounded(input[i], output[i], ToBf16(input[i]));
}

class Bf16KernelSet : public testing::TestWithParam<const Bf16Kernels*> {};

TEST_P(Bf16KernelSet, RoundsAsMlDtypes) {
  const nlohmann::json rounding = {{"name", "rounding"}};
  const std::vector<float>& input = Table().Get(rounding, "input").values;
  const std::vector<float>& output = Table().Get(rounding, "output").values;
  const auto n = static_cast<int64_t>(input.size());
  std::vector<uint16_t> rounded(input.size() + 1, 7);
  GetParam()->round(input.data(), n, rounded.data());
  EXPECT_EQ(rounded.back(), 7) << "wrote past the end";
  const int64_t half = n / 2;
  std::vector<uint32_t> pairs(static_cast<size_t>(half) + 1, 7);
  GetParam()->pair_rows(input.data(), half, 2, half, half, half, pairs.data());
  EXPECT_EQ(pairs.back(), 7U) << "wrote past the end";
  for (int64_t i = 0; i < n; ++i) {
    ExpectRounded(input[i], output[i], rounded[i]);
    if (i >= 2 * half) continue;
    const uint32_t pair = pairs[i % half];
    ExpectRounded(input[i], output[i], static_cast<uint16_t>(i < half ? pair : pair >> 16));
  }
}

// Packs b[segments][length][columns] as Bf16GemmArgs::b wants it.
std::vector<uint32_t> Packed(const Bf16Kernels& kernels, const std::vector<float>& b,
                             int64_t segments, int64_t length, int64_t columns) {
  const int64_t pairs = (length + 1) / 2;
  const int64_t pitch = Bf16Pitch(columns);
  std::vector<uint32_t> packed(static_cast<size_t>(Bf16PackedSize(columns, segments * pairs)),
                               0xFFFFFFFFU);
  for (int64_t j = 0; j < columns; j += kBf16Panel) {
    uint32_t* panel = packed.data() + j / kBf16Panel * segments * pairs * pitch;
    for (int64_t s = 0; s < segments; ++s) {
      kernels.pair_rows(b.data() + s * length * columns + j, columns, length,
                        std::min(kBf16Panel, columns - j), pitch, pitch, panel + s * pairs * pitch);
    }
  }
  return packed;
}

TEST_P(Bf16KernelSet, ProductsEqualNumPysBitForBit) {
  for (const nlohmann::json& at : Table().cases()) {
    const int64_t rows = at["rows"], columns = at["columns"], segments = at["segments"];
    const int64_t length = at["length"], pairs = (length + 1) / 2;
    const std::vector<float>& a = Table().Get(at, "a").values;
    const std::vector<float>& bias = Table().Get(at, "bias").values;
    const std::vector<float>& expected = Table().Get(at, "c").values;
    // Rows of an even length behind one element, so that pairs lie at odd addresses.
    std::vector<uint16_t> left(static_cast<size_t>(rows * segments * pairs * 2) + 1, 0);
    for (int64_t i = 0; i < rows * segments; ++i) {
      GetParam()->round(a.data() + i * length, length, left.data() + 1 + i * pairs * 2);
    }
    const auto right = Packed(*GetParam(), Table().Get(at, "b").values, segments, length, columns);
    std::vector<float> c(expected.size() + 1, -5.0F);
    Bf16GemmArgs args;
    args.rows = rows;
    args.columns = columns;
    args.segments = segments;
    args.pairs = pairs;
    args.a = left.data() + 1;
    args.a_row = segments * pairs * 2;
    args.a_segment = pairs * 2;
    args.b = right.data();
    args.b_panel = segments * pairs * Bf16Pitch(columns);
    args.c = c.data();
    args.c_row = columns;
    args.bias = bias.data();
    GetParam()->gemm(args);
    EXPECT_EQ(c.back(), -5.0F) << "wrote past the end";
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(Bits(expected[i]), Bits(c[i])) << at["name"] << " at " << i;
    }
    // In two parts, and with relu: the same sums.
    if (segments > 1) {
      args.segments = 1;
      args.c = c.data();
      GetParam()->gemm(args);
      args.bias = nullptr;
      args.accumulate = true;
      args.relu = true;
      args.segments = segments - 1;
      args.a += args.a_segment;
      args.b += pairs * Bf16Pitch(columns);
      GetParam()->gemm(args);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(std::max(0.0F, expected[i]), c[i]) << at["name"] << " at " << i;
      }
    }
  }
}

TEST_P(Bf16KernelSet, GroupsAndStrides) {
  // Two groups of rows over shared inputs, with a stride between the pairs of A.
  const int64_t groups = 2, rows = 11, columns = 17, pairs = 6;
  const Philox random(3, Purpose::kSearch, 0, 0);
  std::vector<float> values(400);
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.Uniform(i) - 0.5F;
  std::vector<uint16_t> a(values.size());
  GetParam()->round(values.data(), 400, a.data());
  const std::vector<float> b(values.begin(), values.begin() + 2 * pairs * columns);
  const auto right = Packed(*GetParam(), b, 1, 2 * pairs, columns);
  std::vector<float> c(groups * 300, 1.0F);
  Bf16GemmArgs args;
  args.groups = groups;
  args.rows = rows;
  args.columns = columns;
  args.pairs = pairs;
  args.a = a.data();
  args.a_group = 100;
  args.a_row = 3;
  args.a_pair = 20;
  args.b = right.data();
  args.c = c.data();
  args.c_group = 300;
  args.c_row = 20;
  args.accumulate = true;
  GetParam()->gemm(args);
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        float sum = 1.0F;
        for (int64_t k = 0; k < pairs; ++k) {
          const uint16_t* pair = a.data() + g * 100 + i * 3 + k * 20;
          const float upper = FromBf16(ToBf16(b[(2 * k + 1) * columns + j]));
          sum = sum + FromBf16(pair[1]) * upper;
          sum = sum + FromBf16(pair[0]) * FromBf16(ToBf16(b[2 * k * columns + j]));
        }
        ASSERT_EQ(c[g * 300 + i * 20 + j], sum) << g << ", " << i << ", " << j;
      }
    }
  }
  EXPECT_EQ(c[19], 1.0F) << "wrote between the rows";
}

TEST_P(Bf16KernelSet, Pairing) {
  std::vector<uint16_t> x(30 * 40);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i + 1);
  for (const int64_t rows : {1, 2, 7, 18}) {
    for (const int64_t columns : {1, 15, 16, 33}) {
      const int64_t fill = (columns + 15) / 16 * 16;
      const int64_t pairs = (rows + 1) / 2;
      std::vector<uint32_t> out(static_cast<size_t>(pairs * fill) + 1, 9);
      GetParam()->pair_rounded_rows(x.data(), 40, rows, columns, fill, fill, out.data());
      EXPECT_EQ(out.back(), 9U);
      for (int64_t k = 0; k < pairs; ++k) {
        for (int64_t j = 0; j < fill; ++j) {
          const uint32_t lower = j < columns ? x[2 * k * 40 + j] : 0;
          const uint32_t upper = j < columns && 2 * k + 1 < rows ? x[(2 * k + 1) * 40 + j] : 0;
          ASSERT_EQ(out[k * fill + j], lower | upper << 16);
        }
      }
      // The same of the transposed matrix.
      if (columns > 30) continue;
      out.assign(out.size(), 9);
      GetParam()->pair_columns(x.data(), 40, rows, columns, fill, fill, out.data());
      EXPECT_EQ(out.back(), 9U);
      for (int64_t k = 0; k < pairs; ++k) {
        for (int64_t j = 0; j < fill; ++j) {
          const uint32_t lower = j < columns ? x[j * 40 + 2 * k] : 0;
          const uint32_t upper = j < columns && 2 * k + 1 < rows ? x[j * 40 + 2 * k + 1] : 0;
          ASSERT_EQ(out[k * fill + j], lower | upper << 16);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Bf16KernelSet, testing::ValuesIn(Sets()), [](const auto& info) {
  std::string name = info.param->name;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

// libtorch's capability decides, so that the numerics class tells what ran.
TEST(Bf16Dispatch, FallsBackWhereInstructionsAreMissing) {
  EXPECT_FALSE(Bf16KernelsFor("DEFAULT").native);
  EXPECT_STREQ(Bf16KernelsFor("DEFAULT").name, "baseline");
  EXPECT_FALSE(Bf16KernelsFor("AVX2").native);
  const Bf16Kernels& best = Bf16KernelsFor("AVX512");
  if (Avx512Bf16Kernels() != nullptr) {
    EXPECT_TRUE(best.native);
    EXPECT_EQ(&best, Avx512Bf16Kernels());
  } else {
    EXPECT_FALSE(best.native);
  }
  if (Avx2Bf16Kernels() != nullptr) {
    EXPECT_EQ(&Bf16KernelsFor("AVX2"), Avx2Bf16Kernels());
  }
}

}  // namespace
}  // namespace hopper
