// Products run in our own kernel, in blocks of their sums' length so that a panel of the right
// operand stays in the second-level cache: the bits are those of one block. The gradient of the
// input wants the weights transposed, for which a large product goes to the BLAS of libtorch
// instead of taking as much memory again. The choice depends on the sizes only.
#include "model/network/planned_matrix.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>

// Exported by a libtorch that brings its own BLAS; otherwise products go through at::mm.
// NOLINTNEXTLINE(readability-identifier-naming): the name is BLAS'.
extern "C" __attribute__((weak)) void sgemm_(const char* transpose_a, const char* transpose_b,
                                             const int* m, const int* n, const int* k,
                                             const float* alpha, const float* a, const int* lda,
                                             const float* b, const int* ldb, const float* beta,
                                             float* c, const int* ldc);

namespace hopper {
namespace {

bool IsLarge(int64_t columns, int64_t length) { return columns * length >= kLargeWeights; }

at::Tensor Matrix(const float* data, int64_t rows, int64_t columns) {
  return at::from_blob(const_cast<float*>(data), {rows, columns},
                       at::TensorOptions().dtype(at::kFloat));
}

// Two operations a multiply-add.
double Work(int64_t rows, int64_t columns, int64_t length) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
         static_cast<double>(length);
}

// c[m][n] (+)= a * transposed b, all in C order.
void Blas(int64_t m, int64_t n, int64_t k, const float* a, const float* b, bool accumulate,
          float* c) {
  if (sgemm_ != nullptr) {
    // Fortran sees the transposes of all three: c' = b * a'.
    const int rows = static_cast<int>(m);
    const int columns = static_cast<int>(n);
    const int length = static_cast<int>(k);
    const float one = 1.0F;
    const float beta = accumulate ? 1.0F : 0.0F;
    sgemm_("T", "N", &columns, &rows, &length, &one, b, &length, a, &length, &beta, c, &columns);
    return;
  }
  const at::NoGradGuard no_grad;
  const at::Tensor left = Matrix(a, m, k);
  const at::Tensor right = Matrix(b, n, k).t();
  at::Tensor out = Matrix(c, m, n);
  if (accumulate) {
    out.addmm_(left, right);
  } else {
    at::mm_out(out, left, right);
  }
}

// A product of one segment; where it accumulates, it has no bias.
void InBlocks(const Kernels& kernels, const GemmArgs& all) {
  constexpr int64_t kBlock = 512;
  if (all.columns == 1) return kernels.gemm(all);
  for (int64_t at = 0; at == 0 || at < all.length; at += kBlock) {
    GemmArgs args = all;
    args.a += at * all.a_step;
    args.b += at * all.b_row;
    args.length = std::min(kBlock, all.length - at);
    args.accumulate = all.accumulate || at > 0;
    if (at > 0) args.bias = nullptr;
    args.relu = all.relu && at + kBlock >= all.length;
    kernels.gemm(args);
  }
}

void Multiply(const Kernels& kernels, Team* team, int64_t rows, int64_t columns, int64_t length,
              const float* x, const float* w, const float* bias, bool relu, bool accumulate,
              float* y) {
  RunShares(team, rows, Work(rows, columns, length), [&](int64_t first, int64_t last, int) {
    GemmArgs args;
    args.rows = last - first;
    args.columns = columns;
    args.length = length;
    args.a = x + first * length;
    args.a_row = length;
    args.b = w;
    args.b_row = columns;
    args.c = y + first * columns;
    args.c_row = columns;
    args.accumulate = accumulate;
    args.bias = bias;
    args.relu = relu;
    InBlocks(kernels, args);
  });
}

}  // namespace

void PlannedProduct(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                    int64_t length, const float* x, const float* w, const float* bias, bool relu,
                    float* y) {
  Multiply(kernels, team, rows, columns, length, x, w, bias, relu, /*accumulate=*/false, y);
}

void PlannedProductAdded(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                         int64_t length, const float* x, const float* w, float* y) {
  Multiply(kernels, team, rows, columns, length, x, w, nullptr, /*relu=*/false,
           /*accumulate=*/true, y);
}

int64_t PlannedInputScratch(int64_t rows, int64_t columns, int64_t length) {
  (void)rows;
  return columns == 1 || IsLarge(columns, length) ? 0 : columns * length;
}

void PlannedInputGradient(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                          int64_t length, const float* dy, const float* w, bool accumulate,
                          float* scratch, float* dx) {
  const bool blas = columns > 1 && IsLarge(columns, length);
  const float* transposed = w;
  if (columns > 1 && !blas) {
    kernels.transpose(w, length, columns, scratch);
    transposed = scratch;
  }
  RunShares(team, rows, Work(rows, columns, length), [&](int64_t first, int64_t last, int) {
    const float* from = dy + first * columns;
    float* to = dx + first * length;
    if (blas) {
      return Blas(last - first, length, columns, from, w, accumulate, to);
    }
    GemmArgs args;
    args.rows = last - first;
    args.columns = length;
    args.length = columns;
    args.a = from;
    args.a_row = columns;
    args.b = transposed;
    args.b_row = length;
    args.c = to;
    args.c_row = length;
    args.accumulate = accumulate;
    kernels.gemm(args);
  });
}

void PlannedWeightGradient(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                           int64_t length, const float* x, const float* dy, bool accumulate,
                           float* dw) {
  // Shares are rows of dw: columns of x.
  RunShares(team, length, Work(rows, columns, length), [&](int64_t first, int64_t last, int) {
    float* to = dw + first * columns;
    GemmArgs args;
    args.length = rows;
    args.c = to;
    args.accumulate = accumulate;
    if (columns == 1) {  // one row of the transposed product: vectors along x
      args.rows = 1;
      args.columns = last - first;
      args.a = dy;
      args.a_step = 1;
      args.b = x + first;
      args.b_row = length;
      args.c_row = last - first;
    } else {
      args.rows = last - first;
      args.columns = columns;
      args.a = x + first;
      args.a_row = 1;
      args.a_step = length;
      args.b = dy;
      args.b_row = columns;
      args.c_row = columns;
    }
    InBlocks(kernels, args);
  });
}

}  // namespace hopper
