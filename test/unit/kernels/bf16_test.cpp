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
#include "kernels/emulated_tiles.h"

namespace hopper {
namespace {

const BaselineTable& Table() {
  static const BaselineTable table("bf16.safetensors");
  return table;
}

// The product on tiles, on any processor; what does not multiply is another set's.
const Bf16Kernels* EmulatedAmxBf16Kernels() {
  static const Bf16Kernels table = [] {
    Bf16Kernels kernels = *BaselineBf16Kernels();
    kernels.name = "AMX-emulated";
    kernels.tiles = true;
    kernels.gemm = [](const Bf16GemmArgs& args) {
      SumsInTiles(args) ? TileGemm<EmulatedTiles>(args) : BaselineBf16Kernels()->gemm(args);
    };
    return kernels;
  }();
  return &table;
}

std::vector<const Bf16Kernels*> Bf16Sets() {
  std::vector<const Bf16Kernels*> sets = {BaselineBf16Kernels()};
  if (Avx2Bf16Kernels() != nullptr) sets.push_back(Avx2Bf16Kernels());
  if (Avx512Bf16Kernels() != nullptr) sets.push_back(Avx512Bf16Kernels());
  if (AmxBf16Kernels() != nullptr) sets.push_back(AmxBf16Kernels());
  sets.push_back(EmulatedAmxBf16Kernels());
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
    Bf16GemmArgs args;
    args.columns = columns;
    args.segments = segments;
    args.pairs = pairs;
    const bool tiles = GetParam()->tiles && SumsInTiles(args);
    const std::vector<float>& expected = Table().Get(at, tiles ? "c_tiles" : "c").values;
    // Rows of an even length behind one element, so that pairs lie at odd addresses.
    std::vector<uint16_t> left(static_cast<size_t>(rows * segments * pairs * 2) + 1, 0);
    for (int64_t i = 0; i < rows * segments; ++i) {
      GetParam()->round(a.data() + i * length, length, left.data() + 1 + i * pairs * 2);
    }
    const auto right = Packed(*GetParam(), Table().Get(at, "b").values, segments, length, columns);
    std::vector<float> c(expected.size() + 1, -5.0F);
    args.rows = rows;
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
    // In two parts, and with relu: the same sums, unless tiles take what is left of each segment
    // last, or none for a part.
    args.segments = 1;
    if (segments > 1 && (!tiles || (SplitPairs(pairs).rest == 0 && SumsInTiles(args)))) {
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

// c[i][j] of the arguments, as bf16.h and bf16_tiles.h say; for numbers that are far from overflow
// and underflow, where products are exact.
float Sum(const Bf16GemmArgs& g, bool tiles, int64_t group, int64_t i, int64_t j, float c) {
  const int64_t pitch = Bf16Pitch(g.columns);
  const auto add = [&](int64_t segment, int64_t k, int upper, float sum) {
    const uint16_t* a =
        g.a + group * g.a_group + i * g.a_row + segment * g.a_segment + k * g.a_pair;
    const uint32_t b =
        g.b[j / kBf16Panel * g.b_panel + (segment * g.pairs + k) * pitch + j % kBf16Panel];
    const float product =
        FromBf16(a[upper]) * FromBf16(static_cast<uint16_t>(upper == 1 ? b >> 16 : b));
    return sum + product;
  };
  tiles = tiles && SumsInTiles(g);
  if (!g.accumulate) c = g.bias == nullptr ? 0.0F : g.bias[j];
  const PairSplit split = SplitPairs(g.pairs);
  const auto add_chunk = [&](int64_t segment, int64_t first, int64_t pairs) {
    float sums[2] = {};
    for (int64_t k = first; k < first + pairs; ++k) {
      for (int upper = 0; upper < 2; ++upper) {
        sums[upper] = add(segment, k, upper, sums[upper]);
      }
    }
    c += sums[0] + sums[1];
  };
  for (int64_t s = 0; s < g.segments && !tiles; ++s) {
    for (int64_t k = 0; k < g.pairs; ++k) c = add(s, k, 0, add(s, k, 1, c));
  }
  for (int64_t n = 0; n < g.segments * split.whole && tiles; ++n) {
    add_chunk(n / split.whole, n % split.whole * split.chunk, split.chunk);
  }
  for (int64_t s = 0; s < g.segments && tiles && split.rest > 0; ++s) {
    add_chunk(s, g.pairs - split.rest, split.rest);
  }
  return g.relu ? std::max(c, 0.0F) : c;
}

// Arguments over random numbers: the operands are as large as they must be, so that a sanitizer
// sees what is read beyond them, and between the rows of the result there is room.
struct Product {
  Product(const Bf16GemmArgs& sizes, uint64_t seed) : args(sizes) {
    const Philox random(seed, Purpose::kSearch, 0, 0);
    uint64_t next = 0;
    const auto number = [&] { return ToBf16(random.Uniform(next++) - 0.5F); };
    const int64_t last = (args.groups - 1) * args.a_group + (args.rows - 1) * args.a_row +
                         (args.segments - 1) * args.a_segment + (args.pairs - 1) * args.a_pair;
    a.resize(static_cast<size_t>(last) + 2);
    for (uint16_t& x : a) x = number();
    args.a = a.data();
    const int64_t pitch = Bf16Pitch(args.columns);
    args.b_panel = args.segments * args.pairs * pitch;
    b.resize(static_cast<size_t>(Bf16PackedSize(args.columns, args.segments * args.pairs)));
    for (size_t i = 0; i < b.size(); ++i) {
      const auto panel = static_cast<int64_t>(i) / args.b_panel;
      const int64_t column = panel * kBf16Panel + static_cast<int64_t>(i) % pitch;
      if (column >= args.columns) continue;
      b[i] = number() | static_cast<uint32_t>(number()) << 16;
    }
    args.b = b.data();
    args.c_row = args.columns + 3;
    args.c_group = args.rows * args.c_row + 5;
    c.resize(static_cast<size_t>((args.groups - 1) * args.c_group + (args.rows - 1) * args.c_row +
                                 args.columns));
    for (float& x : c) x = random.Uniform(next++) - 0.5F;
    bias.resize(static_cast<size_t>(args.columns));
    for (float& x : bias) x = random.Uniform(next++) - 0.5F;
  }
  // What the product makes of c.
  std::vector<float> Run(const Bf16Kernels& kernels) {
    std::vector<float> result = c;
    args.c = result.data();
    kernels.gemm(args);
    return result;
  }

  Bf16GemmArgs args;
  std::vector<uint16_t> a;
  std::vector<uint32_t> b;
  std::vector<float> c, bias;
};

void ExpectSums(const Bf16Kernels& kernels, Product* product, const std::string& what) {
  const Bf16GemmArgs& g = product->args;
  const std::vector<float> result = product->Run(kernels);
  std::vector<float> expected = product->c;
  for (int64_t n = 0; n < g.groups * g.rows * g.columns; ++n) {
    const int64_t group = n / (g.rows * g.columns);
    const int64_t i = n / g.columns % g.rows;
    const int64_t j = n % g.columns;
    float& x = expected[static_cast<size_t>(group * g.c_group + i * g.c_row + j)];
    x = Sum(g, kernels.tiles, group, i, j, x);
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(Bits(expected[i]), Bits(result[i])) << what << " at " << i;
  }
}

// Whole and broken tiles and panels in each direction, several blocks of a sum and of columns.
TEST_P(Bf16KernelSet, AllShapes) {
  uint64_t seed = 0;
  for (const int64_t rows : {1, 2, 15, 16, 17, 33, 40}) {
    for (const int64_t columns : {1, 15, 16, 17, 32, 33, 63, 64, 65, 97, 130}) {
      for (const int64_t pairs : {1, 3, 15, 16, 17, 20, 35}) {
        const auto s = static_cast<int64_t>(seed % 3);
        Bf16GemmArgs sizes;
        sizes.groups = 1 + s;
        sizes.rows = rows;
        sizes.columns = columns;
        sizes.segments = 1 + static_cast<int64_t>(seed % 5);
        sizes.pairs = pairs;
        if (seed % 2 == 0) {
          sizes.a_segment = 2 * pairs;
          sizes.a_row = sizes.segments * sizes.a_segment + s;
          sizes.a_group = rows * sizes.a_row;
        } else {  // transposed, or with an odd stride between the rows
          sizes.a_row = 2 + s;
          sizes.a_pair = rows * sizes.a_row + 1;
          sizes.a_segment = pairs * sizes.a_pair;
          sizes.a_group = 7;
        }
        Product product(sizes, ++seed);
        product.args.accumulate = seed % 4 < 2;
        if (seed % 4 == 2) product.args.bias = product.bias.data();
        product.args.relu = seed % 7 < 3;
        ExpectSums(
            *GetParam(), &product,
            std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(pairs));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Bf16KernelSet, LongSumsAndManyColumns) {
  Bf16GemmArgs sizes;
  sizes.rows = 5;
  sizes.columns = 600;
  sizes.segments = 7;
  sizes.pairs = 70;
  sizes.a_segment = 140;
  sizes.a_row = 7 * 140;
  Product product(sizes, 1);
  product.args.bias = product.bias.data();
  product.args.relu = true;
  ExpectSums(*GetParam(), &product, "long");
}

// Threads that share a product share its rows.
TEST_P(Bf16KernelSet, ARowDoesNotDependOnOthers) {
  Bf16GemmArgs sizes;
  sizes.rows = 50;
  sizes.columns = 70;
  sizes.pairs = 41;
  for (const bool transposed : {false, true}) {
    sizes.a_row = transposed ? 2 : 82;
    sizes.a_pair = transposed ? 100 : 2;
    Product product(sizes, 4);
    const std::vector<float> all = product.Run(*GetParam());
    for (const int64_t cut : {1, 7, 16, 31, 49}) {
      std::vector<float> parts = product.c;
      Bf16GemmArgs args = product.args;
      args.c = parts.data();
      args.rows = cut;
      GetParam()->gemm(args);
      args.a += cut * args.a_row;
      args.c += cut * args.c_row;
      args.rows = sizes.rows - cut;
      GetParam()->gemm(args);
      EXPECT_EQ(parts, all) << cut;
    }
  }
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
      // Pairs of the transposed matrix.
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

INSTANTIATE_TEST_SUITE_P(All, Bf16KernelSet, testing::ValuesIn(Bf16Sets()), [](const auto& info) {
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
  if (AmxBf16Kernels() != nullptr) {
    EXPECT_EQ(&best, AmxBf16Kernels());
    EXPECT_TRUE(best.native && best.tiles);
    ASSERT_NE(Avx512Bf16Kernels(), nullptr);
    EXPECT_FALSE(Avx512Bf16Kernels()->tiles) << "another class";
  } else if (Avx512Bf16Kernels() != nullptr) {
    EXPECT_TRUE(best.native);
    EXPECT_EQ(&best, Avx512Bf16Kernels());
  } else {
    EXPECT_FALSE(best.native);
  }
  if (Avx2Bf16Kernels() != nullptr) {
    EXPECT_EQ(&Bf16KernelsFor("AVX2"), Avx2Bf16Kernels());
    EXPECT_FALSE(Bf16KernelsFor("AVX2").tiles);
  }
}

// Where the processor has tiles the emulation is compared with them, with all kinds of numbers:
// small, large, subnormal, infinite and NaN.
TEST(Bf16Tiles, EmulationEqualsTheProcessor) {
  if (AmxBf16Kernels() == nullptr) GTEST_SKIP() << "this processor has no AMX";
  Bf16GemmArgs sizes;
  sizes.rows = 37;
  sizes.columns = 70;
  sizes.segments = 2;
  sizes.pairs = 23;
  sizes.a_segment = 46;
  sizes.a_row = 92;
  sizes.accumulate = true;
  int64_t specials[4] = {};
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Product product(sizes, seed);
    const Philox random(seed, Purpose::kSearch, 1, 0);
    uint64_t next = 0;
    // Anything, near the smallest number, whose products are near it, near the largest one.
    const auto exponent = [&](float spread, float from) {
      return static_cast<uint32_t>(from + spread * random.Uniform(next++));
    };
    const float ranges[][2] = {{255.9F, 0}, {3, 0}, {30, 56}, {12, 185}, {40, 107}};
    const float* range = ranges[seed % 5];
    const auto number = [&] {
      const auto sign = random.Uniform(next++) < 0.5F ? 0U : 0x8000U;
      const auto digits = static_cast<uint32_t>(128 * random.Uniform(next++));
      return static_cast<uint16_t>(sign | exponent(range[0], range[1]) << 7 | digits);
    };
    const float share = seed % 5 == 1 ? 1.0F : 0.7F;
    for (uint16_t& x : product.a) {
      if (random.Uniform(next++) < share) x = number();
    }
    for (uint32_t& x : product.b) {
      if (x != 0 && random.Uniform(next++) < share) {
        x = number() | static_cast<uint32_t>(number()) << 16;
      }
    }
    for (float& x : product.c) {
      const uint32_t bits = static_cast<uint32_t>(number()) << 16 |
                            static_cast<uint32_t>(65536 * random.Uniform(next++));
      std::memcpy(&x, &bits, sizeof(x));
    }
    const std::vector<float> expected = product.Run(*EmulatedAmxBf16Kernels());
    const std::vector<float> result = product.Run(*AmxBf16Kernels());
    for (size_t i = 0; i < expected.size(); ++i) {
      specials[0] += std::isnan(expected[i]) ? 1 : 0;
      specials[1] += std::isinf(expected[i]) ? 1 : 0;
      specials[2] += expected[i] == 0.0F ? 1 : 0;
      specials[3] += std::isnormal(expected[i]) ? 1 : 0;
      if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(result[i])) << seed << " at " << i;
      } else {
        ASSERT_EQ(Bits(expected[i]), Bits(result[i]))
            << seed << " at " << i << ": " << expected[i] << ", " << result[i];
      }
    }
  }
  for (const int64_t n : specials) {
    EXPECT_GT(n, 100) << specials[0] << " NaN, " << specials[1] << " infinite, " << specials[2]
                      << " zero, " << specials[3] << " normal";
  }
}

// The last digit where sums leave the normal numbers, and signs of zeros.
TEST(Bf16Tiles, EmulationEqualsTheProcessorAtTheEdges) {
  if (AmxBf16Kernels() == nullptr) GTEST_SKIP() << "this processor has no AMX";
  const float least = 0x1p-126F;
  const float numbers[] = {0.0F,         -0.0F,        1.0F,         -1.0F,    least,
                           -least,       0x1.fep-126F, 0x1p-127F,    0x1p-63F, 0x1.02p-63F,
                           -0x1.fep-64F, 0x1.fep127F,  -0x1.fep127F, 0x1p64F,  INFINITY,
                           -INFINITY,    NAN};
  const float sums[] = {0.0F,
                        -0.0F,
                        least,
                        -least,
                        0x1.fffffep-127F,
                        0x1p-149F,
                        -0x1.000002p-126F,
                        0x1.000002p-126F,
                        1.0F,
                        INFINITY,
                        NAN};
  Bf16GemmArgs sizes;
  sizes.rows = 1;
  sizes.columns = 1;
  sizes.pairs = 8;
  sizes.a_row = 16;
  sizes.accumulate = true;
  ASSERT_TRUE(SumsInTiles(sizes));
  Product product(sizes, 1);
  product.a.assign(product.a.size(), 0);
  product.b.assign(product.b.size(), 0);
  const auto bits = [](float x) { return static_cast<uint16_t>(Bits(x) >> 16); };
  for (const float a0 : numbers) {
    for (const float b0 : numbers) {
      for (const float a1 : numbers) {
        for (const float b1 : {0.0F, 1.0F, -1.0F, 0x1p-63F, -0x1.fep-64F, 0x1.fep127F}) {
          for (const float sum : sums) {
            product.a[0] = bits(a0);
            product.a[1] = bits(a1);
            product.b[0] = bits(b0) | static_cast<uint32_t>(bits(b1)) << 16;
            product.c[0] = sum;
            const float expected = product.Run(*EmulatedAmxBf16Kernels())[0];
            const float result = product.Run(*AmxBf16Kernels())[0];
            if (std::isnan(expected) && std::isnan(result)) continue;
            ASSERT_EQ(Bits(expected), Bits(result))
                << std::hexfloat << sum << " + " << a0 << " * " << b0 << " + " << a1 << " * " << b1
                << ": " << expected << ", " << result;
          }
        }
      }
    }
  }
}

// A thread that leaves the kernel leaves no tiles behind, which the system would have to save.
TEST(Bf16Tiles, AreReleased) {
  Bf16GemmArgs sizes;
  sizes.rows = 20;
  sizes.columns = 20;
  sizes.pairs = 20;
  sizes.a_row = 40;
  Product product(sizes, 1);
  product.Run(*EmulatedAmxBf16Kernels());
  EXPECT_FALSE(EmulatedTiles::InUse());
#if defined(__x86_64__)
  if (AmxBf16Kernels() == nullptr) return;
  product.Run(*AmxBf16Kernels());
  unsigned in_use, upper;
  asm volatile("xgetbv" : "=a"(in_use), "=d"(upper) : "c"(1));
  EXPECT_EQ(in_use & 3U << 17, 0U) << "XINUSE";
#endif
}

}  // namespace
}  // namespace hopper
