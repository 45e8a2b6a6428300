// What bfloat16 gains here. Having the instructions does not decide it: there are processors whose
// bfloat16 products have half the rate of their float32 ones.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "kernels/bf16.h"

namespace hopper {

namespace {

// A dense layer of usual size: operands and result stay in the second cache.
constexpr int64_t kRows = 128;
constexpr int64_t kLength = 256;
constexpr int64_t kColumns = 128;
constexpr int kTries = 7;

template <typename Product>
double BestSeconds(const Product& product) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch watch;
    product();
    best = std::min(best, watch.Seconds());
  }
  return std::max(best, 1e-9);
}

}  // namespace

double Bf16Gain(const Kernels& kernels, const Bf16Kernels& bf16) {
  const std::vector<float> a(kRows * kLength, 0.5F);
  const std::vector<float> b(kLength * kColumns, 0.25F);
  std::vector<float> c(kRows * kColumns);
  GemmArgs product;
  product.rows = kRows;
  product.columns = kColumns;
  product.segments = 1;
  product.length = kLength;
  product.a = a.data();
  product.a_row = kLength;
  product.b = b.data();
  product.b_row = kColumns;
  product.c = c.data();
  product.c_row = kColumns;
  const double full = BestSeconds([&] { kernels.gemm(product); });

  constexpr int64_t kPairs = kLength / 2;
  const int64_t pitch = Bf16Pitch(kColumns);
  std::vector<uint16_t> rounded(a.size());
  std::vector<uint32_t> packed(static_cast<size_t>(Bf16PackedSize(kColumns, kPairs)));
  Bf16GemmArgs half;
  half.rows = kRows;
  half.columns = kColumns;
  half.pairs = kPairs;
  half.a = rounded.data();
  half.a_row = kLength;
  half.b = packed.data();
  half.b_panel = kPairs * pitch;
  half.c = c.data();
  half.c_row = kColumns;
  const double short_ones = BestSeconds([&] {
    bf16.round(a.data(), kRows * kLength, rounded.data());
    for (int64_t first = 0; first < kColumns; first += kBf16Panel) {
      const int64_t columns = std::min(kBf16Panel, kColumns - first);
      bf16.pair_rows(b.data() + first, kColumns, kLength, columns, pitch, pitch,
                     packed.data() + first / kBf16Panel * half.b_panel);
    }
    bf16.gemm(half);
  });
  return full / short_ones;
}

}  // namespace hopper
