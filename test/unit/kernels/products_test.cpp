// Products and sums of columns against float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel_sets.h"
#include "kernels/kernels.h"
#include "support/repetitions.h"

namespace hopper {
namespace {

TEST_P(KernelSet, ProductsOfAllSizes) {
  for (const int64_t rows : {1, 2, 5, 6, 7, 13, 33}) {
    for (const int64_t columns : {1, 3, 8, 15, 16, 17, 31, 47, 63, 64, 70, 130}) {
      for (const int64_t length : {1, 4, 19, 64}) {
        for (const int mode : {0, 1, 2}) {  // plain, bias and relu, accumulating
          const auto a = Random(static_cast<size_t>(rows * length), 1);
          const auto b = Random(static_cast<size_t>(length * columns), 2);
          const auto bias = Random(static_cast<size_t>(columns), 3);
          auto c = Random(static_cast<size_t>(rows * columns) + 1, 4);
          const auto before = c;
          GemmArgs args;
          args.rows = rows;
          args.columns = columns;
          args.length = length;
          args.a = a.data();
          args.a_row = length;
          args.b = b.data();
          args.b_row = columns;
          args.c = c.data();
          args.c_row = columns;
          args.bias = mode == 1 ? bias.data() : nullptr;
          args.relu = mode == 1;
          args.accumulate = mode == 2;
          GetParam()->gemm(args);
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
              double sum = mode == 2 ? before[i * columns + j] : 0.0;
              for (int64_t k = 0; k < length; ++k) {
                sum += static_cast<double>(a[i * length + k]) * b[k * columns + j];
              }
              if (mode == 1) sum = std::max(0.0, sum + bias[j]);
              ASSERT_NEAR(c[i * columns + j], sum, 1e-5)
                  << rows << " x " << columns << " x " << length << ", mode " << mode;
            }
          }
          ASSERT_EQ(c.back(), before.back()) << "wrote past the end";
        }
      }
    }
  }
}

TEST_P(KernelSet, APackedOperandGivesTheBitsOfOneThatIsNot) {
  for (const int64_t rows : {1, 2, 13, 200}) {
    for (const int64_t columns : {1, 3, 16, 24, 67, 130}) {
      for (const int64_t length : {1, 7, 64, 600}) {
        for (const bool turned : {false, true}) {
          const auto a = Random(static_cast<size_t>(rows * length), 1);
          const auto b = Random(static_cast<size_t>(length * columns), 2);
          auto c = Random(static_cast<size_t>(rows * columns), 3);
          auto packed_c = c;
          std::vector<float> packed(static_cast<size_t>(PackedFloats(length, columns)));
          GemmArgs args;
          args.rows = rows;
          args.columns = columns;
          args.length = length;
          args.a = a.data();
          args.a_row = length;
          args.b = b.data();
          args.b_row = turned ? 1 : columns;
          args.b_step = turned ? length : 1;
          args.c = c.data();
          args.c_row = columns;
          args.accumulate = true;
          GetParam()->gemm(args);
          GetParam()->pack_right(args, packed.data());
          args.b = packed.data();
          args.b_packed = true;
          args.c = packed_c.data();
          GetParam()->gemm(args);
          ASSERT_EQ(c, packed_c) << rows << " x " << columns << " x " << length << turned;
        }
      }
    }
  }
}

TEST_P(KernelSet, TransposedProductInSegments) {
  // C[i][j] = sum over s, k of A[s][k][i] * B[s][k][j]
  const int64_t rows = 9, columns = 20, segments = 3, length = 5;
  const auto a = Random(static_cast<size_t>(segments * length * rows), 1);
  const auto b = Random(static_cast<size_t>(segments * length * columns), 2);
  std::vector<float> c(static_cast<size_t>(rows * columns));
  GemmArgs args;
  args.rows = rows;
  args.columns = columns;
  args.segments = segments;
  args.length = length;
  args.a = a.data();
  args.a_row = 1;
  args.a_step = rows;
  args.a_segment = length * rows;
  args.b = b.data();
  args.b_row = columns;
  args.b_segment = length * columns;
  args.c = c.data();
  args.c_row = columns;
  GetParam()->gemm(args);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0.0;
      for (int64_t k = 0; k < segments * length; ++k) {
        sum += static_cast<double>(a[k * rows + i]) * b[k * columns + j];
      }
      ASSERT_NEAR(c[i * columns + j], sum, 1e-5);
    }
  }
}

// Blocks, panels and copies are where operands lie; no sum is cut or turned.
TEST_P(KernelSet, ANumberHasTheSameBitsInEveryProduct) {
  for (const int64_t rows : {1, 4, 11, 23, 200}) {
    // Where the kernel reads and writes the whole product shows; this file's own sums are slow when
    // instrumented.
    const int64_t step = kUnderAddressSanitizer && rows > 100 ? 17 : 1;
    for (const int64_t columns : {1, 7, 24, 64, 90}) {
      for (const auto& [segments, length] : std::vector<std::pair<int64_t, int64_t>>{
               {1, 0}, {1, 40}, {1, 700}, {5, 130}, {2, 600}}) {
        const int64_t terms = segments * length;
        const auto a = Random(static_cast<size_t>(rows * terms) + 1, 1);
        const auto b = Random(static_cast<size_t>(terms * columns) + 1, 2);
        const auto bias = Random(static_cast<size_t>(columns), 3);
        std::vector<float> turned(b.size());
        GetParam()->transpose(b.data(), terms, columns, turned.data());
        for (const int mode : {0, 1, 2}) {  // bias and relu, accumulating, both
          const auto before = Random(static_cast<size_t>(rows * columns), 4);
          GemmArgs args;
          args.rows = rows;
          args.columns = columns;
          args.segments = segments;
          args.length = length;
          args.a = a.data();
          args.a_row = terms;
          args.a_segment = length;
          args.b = b.data();
          args.b_row = columns;
          args.b_segment = length * columns;
          args.c_row = columns;
          args.bias = mode != 1 ? bias.data() : nullptr;
          args.relu = mode != 1;
          args.accumulate = mode != 0;
          auto whole = before;
          args.c = whole.data();
          GetParam()->gemm(args);
          if (columns > 1) {  // one column by itself is a dot product
            auto transposed = before;
            GemmArgs other = args;
            other.b = turned.data();
            other.b_row = 1;
            other.b_segment = length;
            other.b_step = terms;
            other.c = transposed.data();
            GetParam()->gemm(other);
            ASSERT_EQ(whole, transposed) << rows << " x " << columns << " x " << terms;
          }
          auto alone = whole;
          for (int64_t i = 0; i < rows; i += step) {
            GemmArgs row = args;
            row.rows = 1;
            row.a += i * terms;
            row.c = alone.data() + i * columns;
            std::copy_n(before.data() + i * columns, columns, row.c);
            GetParam()->gemm(row);
          }
          // Instrumented, products and sums of a dot product are not always fused.
          if (columns > 1 || !kUnderAddressSanitizer) {
            ASSERT_EQ(whole, alone) << rows << " x " << columns << " x " << terms;
          }
          for (int64_t i = 0; i < rows * columns; i += step) {
            const int64_t j = i % columns;
            double sum = mode != 0 ? before[i] : 0.0;
            for (int64_t k = 0; k < terms; ++k) {
              sum += static_cast<double>(a[i / columns * terms + k]) * b[k * columns + j];
            }
            if (mode != 1) sum = std::max(0.0, sum + bias[j]);
            ASSERT_NEAR(whole[i], sum, 1e-3) << rows << " x " << columns << " x " << terms;
          }
        }
      }
    }
  }
}

TEST_P(KernelSet, SumsAndProductsOfColumns) {
  for (const int64_t columns : {1, 5, 16, 33, 64, 100}) {
    for (const int64_t rows : {1, 2, 37}) {
      const auto x = Random(static_cast<size_t>(rows * columns), 11);
      const auto y = Random(x.size(), 12);
      const auto mean = Random(static_cast<size_t>(columns), 13);
      const auto shift = Random(static_cast<size_t>(columns), 14);
      std::vector<float> sums(static_cast<size_t>(columns)), products = sums, shifted = sums;
      GetParam()->column_sums(x.data(), rows, columns, sums.data());
      GetParam()->column_products(x.data(), mean.data(), y.data(), nullptr, rows, columns,
                                  products.data());
      GetParam()->column_products(x.data(), mean.data(), y.data(), shift.data(), rows, columns,
                                  shifted.data());
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0.0;
        double product = 0.0;
        double of_both = 0.0;
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t at = i * columns + j;
          const double x_less_mean = static_cast<double>(x[at]) - mean[j];
          sum += x[at];
          product += x_less_mean * y[at];
          of_both += x_less_mean * (static_cast<double>(y[at]) - shift[j]);
        }
        ASSERT_NEAR(sums[j], sum, 1e-5);
        ASSERT_NEAR(products[j], product, 2e-5);
        ASSERT_NEAR(shifted[j], of_both, 2e-5);
      }
    }
  }
}

TEST_P(KernelSet, RowsOfANormalization) {
  for (const int64_t columns : {1, 5, 16, 33, 64, 100}) {
    for (const int64_t rows : {1, 2, 37}) {
      for (const bool clipped : {false, true}) {
        const auto x = Random(static_cast<size_t>(rows * columns), 21);
        const auto dy = Random(x.size(), 22);
        const auto factor = Random(static_cast<size_t>(columns), 23);
        const auto offset = Random(factor.size(), 24);
        const auto mean = Random(factor.size(), 25);
        const auto by_x = Random(factor.size(), 26);
        NormArgs args;
        args.rows = rows;
        args.columns = columns;
        args.x = x.data();
        args.factor = factor.data();
        args.offset = offset.data();
        args.clipped = clipped;
        args.least = 0.0F;
        args.most = 0.25F;
        std::vector<float> y(x.size());
        std::vector<float> dx = y;
        std::vector<float> added = Random(x.size(), 27);
        const std::vector<float> before = added;
        std::vector<float> sums(2 * factor.size());
        GetParam()->norm(args, y.data());
        GetParam()->norm_sums(args, mean.data(), dy.data(), sums.data());
        GetParam()->norm_gradient(args, dy.data(), by_x.data(), mean.data(), false, dx.data());
        GetParam()->norm_gradient(args, dy.data(), by_x.data(), mean.data(), true, added.data());
        int cut = 0;
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0.0;
          double products = 0.0;
          for (int64_t i = 0; i < rows; ++i) {
            const int64_t at = i * columns + j;
            const double z = static_cast<double>(x[at]) * factor[j] + offset[j];
            const bool passes = !clipped || (z > 0.0 && z < 0.25);
            const double gradient = passes ? dy[at] : 0.0;
            cut += passes ? 0 : 1;
            sum += gradient;
            products += gradient * (static_cast<double>(x[at]) - mean[j]);
            ASSERT_NEAR(y[at], clipped ? std::clamp(z, 0.0, 0.25) : z, 1e-6);
            const double d = gradient * factor[j] + static_cast<double>(x[at]) * by_x[j] + mean[j];
            ASSERT_NEAR(dx[at], d, 1e-6);
            ASSERT_NEAR(added[at], before[at] + d, 1e-6);
          }
          ASSERT_NEAR(sums[j], sum, 1e-5);
          ASSERT_NEAR(sums[columns + j], products, 2e-5);
        }
        if (clipped && columns == 100 && rows == 37) {
          EXPECT_GT(cut, 1000);
          EXPECT_LT(cut, 3600);
        }
      }
    }
  }
}

// Of the tests in all files.
INSTANTIATE_TEST_SUITE_P(All, KernelSet, testing::ValuesIn(Sets()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hopper
