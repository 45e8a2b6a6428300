// GFlop/s of matrix products as planned layers ask for them, by every set of kernels that this
// processor has: in float32, and with bfloat16 operands that are rounded and packed already.
//
//   ninja -C build/dev bf16_products && build/dev/bf16_products
//
// By the CPU time of one thread, the best of a few tries: other work on the machine makes it slower
// but does not count as time.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "base/philox.h"
#include "kernels/bf16.h"
#include "kernels/kernels.h"

namespace {

using hopper::Bf16GemmArgs;
using hopper::Bf16Kernels;
using hopper::GemmArgs;
using hopper::Kernels;

struct Shape {
  const char* name;
  int64_t groups, rows, columns, segments, length;
  bool transposed;  // A's rows are neighbours in memory, as in gradients of weights
};

constexpr Shape kShapes[] = {
    {"dense 784 to 128, batch 32", 1, 32, 128, 1, 784, false},
    {"dense 256 to 128, batch 128", 1, 128, 128, 1, 256, false},
    {"dense 512 to 512, batch 256", 1, 256, 512, 1, 512, false},
    {"dense 2,304 to 512, batch 32", 1, 32, 512, 1, 2304, false},
    {"dense 512 to 10, batch 32", 1, 32, 10, 1, 512, false},
    {"dense 8 to 64, batch 256", 1, 256, 64, 1, 8, false},
    {"its weights, 784 to 128, batch 32", 1, 784, 128, 1, 32, true},
    {"its weights, 512 to 512, batch 256", 1, 512, 512, 1, 256, true},
    {"its weights, 512 to 10, batch 32", 1, 512, 10, 1, 32, true},
    {"convolution, 3 to 32, 32 x 32", 32, 32, 32, 3, 9, false},
    {"convolution, 32 to 32, 32 x 32", 32, 32, 32, 3, 96, false},
    {"convolution, 64 to 64, 16 x 16", 16, 16, 64, 3, 192, false},
    {"convolution, 128 to 128, 8 x 8", 8, 8, 128, 3, 384, false},
    {"convolution, 512 to 512, 4 x 4", 4, 4, 512, 3, 1536, false},
    {"its weights, 3 to 32, 32 x 32", 3, 9, 32, 32, 32, true},
    {"its weights, 32 to 32, 32 x 32", 3, 96, 32, 32, 32, true},
    {"its weights, 64 to 64, 16 x 16", 3, 192, 64, 16, 16, true},
    {"its weights, 128 to 128, 8 x 8", 3, 384, 128, 8, 8, true},
};

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Product>
double BestSeconds(double flops, const Product& product) {
  const int repeats = static_cast<int>(std::clamp(5e7 / flops, 1.0, 1000.0));
  double best = 1e9;
  for (int i = 0; i < 9; ++i) {
    const double begin = CpuSeconds();
    for (int r = 0; r < repeats; ++r) product();
    best = std::min(best, (CpuSeconds() - begin) / repeats);
  }
  return best;
}

std::vector<float> Values(int64_t n) {
  const hopper::Philox random(1, hopper::Purpose::kSearch, 0, 0);
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.Uniform(i) - 0.5F;
  return values;
}

double Flops(const Shape& s) {
  return 2.0 * static_cast<double>(s.groups * s.rows) * static_cast<double>(s.columns) *
         static_cast<double>(s.segments * s.length);
}

// Groups and segments are those of the bfloat16 product; here they are one matrix.
double Float32Seconds(const Kernels& kernels, const Shape& s) {
  const std::vector<float> a = Values(s.groups * s.rows * s.segments * s.length);
  const std::vector<float> b = Values(s.segments * s.length * s.columns);
  std::vector<float> c(static_cast<size_t>(s.groups * s.rows * s.columns));
  GemmArgs args;
  args.rows = s.groups * s.rows;
  args.columns = s.columns;
  args.segments = 1;
  args.length = s.segments * s.length;
  args.a = a.data();
  args.a_row = s.transposed ? 1 : args.length;
  args.a_step = s.transposed ? args.rows : 1;
  args.b = b.data();
  args.b_row = s.columns;
  args.c = c.data();
  args.c_row = s.columns;
  return BestSeconds(Flops(s), [&] { kernels.gemm(args); });
}

double Bf16Seconds(const Bf16Kernels& kernels, const Shape& s) {
  const int64_t pairs = (s.length + 1) / 2;
  const int64_t all_rows = s.groups * s.rows;
  const std::vector<float> values = Values(all_rows * s.segments * pairs * 2);
  std::vector<uint16_t> a(values.size());
  kernels.round(values.data(), static_cast<int64_t>(values.size()), a.data());
  std::vector<uint32_t> b(
      static_cast<size_t>(hopper::Bf16PackedSize(s.columns, s.segments * pairs)), 0x3F003E00U);
  std::vector<float> c(static_cast<size_t>(all_rows * s.columns));
  Bf16GemmArgs args;
  args.groups = s.groups;
  args.rows = s.rows;
  args.columns = s.columns;
  args.segments = s.segments;
  args.pairs = pairs;
  args.a = a.data();
  if (s.transposed) {
    args.a_group = 2 * s.rows;
    args.a_row = 2;
    args.a_pair = 2 * all_rows;
    args.a_segment = 2 * all_rows * pairs;
  } else {
    args.a_segment = 2 * pairs;
    args.a_row = 2 * pairs * s.segments;
    args.a_group = s.rows * args.a_row;
  }
  args.b = b.data();
  args.b_panel = s.segments * pairs * hopper::Bf16Pitch(s.columns);
  args.c = c.data();
  args.c_group = s.rows * s.columns;
  args.c_row = s.columns;
  return BestSeconds(Flops(s), [&] { kernels.gemm(args); });
}

}  // namespace

int main() {
  std::vector<const Kernels*> full;
  for (const Kernels* set : {hopper::Avx2Kernels(), hopper::Avx512Kernels()}) {
    if (set != nullptr) full.push_back(set);
  }
  std::vector<const Bf16Kernels*> half;
  for (const Bf16Kernels* set :
       {hopper::Avx2Bf16Kernels(), hopper::Avx512Bf16Kernels(), hopper::AmxBf16Kernels()}) {
    if (set != nullptr) half.push_back(set);
  }
  std::printf("| product, GFlop/s |");
  for (const Kernels* set : full) std::printf(" float32, %s |", set->name);
  for (const Bf16Kernels* set : half) std::printf(" bfloat16, %s |", set->name);
  std::printf("\n| --- |");
  for (size_t i = 0; i < full.size() + half.size(); ++i) std::printf(" --- |");
  std::printf("\n");
  for (const Shape& shape : kShapes) {
    std::printf("| %s |", shape.name);
    const double flops = Flops(shape) / 1e9;
    for (const Kernels* set : full) std::printf(" %.0f |", flops / Float32Seconds(*set, shape));
    for (const Bf16Kernels* set : half) std::printf(" %.0f |", flops / Bf16Seconds(*set, shape));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
