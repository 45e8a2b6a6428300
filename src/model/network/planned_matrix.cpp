// Small products run in our own kernel, which starts at once; large ones in the BLAS of libtorch,
// which packs its operands for the caches. The choice depends on the sizes only.
#include "model/network/planned_matrix.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

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

at::Tensor Matrix(const float* data, int64_t rows, int64_t columns, int64_t row) {
  return at::from_blob(const_cast<float*>(data), {rows, columns}, {row, 1},
                       at::TensorOptions().dtype(at::kFloat));
}

// Two operations a multiply-add.
double Work(int64_t rows, int64_t columns, int64_t length) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
         static_cast<double>(length);
}

// c[m][n] = (a or its transpose) * (b or its transpose), all in C order; `a_row` floats from one
// row of `a`, as it is stored, to the next.
void Blas(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
          int64_t a_row, const float* b, bool accumulate, float* c) {
  if (sgemm_ != nullptr) {
    // Fortran sees the transposes of all three: c' = b' * a'.
    const int rows = static_cast<int>(m);
    const int columns = static_cast<int>(n);
    const int length = static_cast<int>(k);
    const int lda = static_cast<int>(a_row);
    const int ldb = transpose_b ? length : columns;
    const float one = 1.0F;
    const float beta = accumulate ? 1.0F : 0.0F;
    sgemm_(transpose_b ? "T" : "N", transpose_a ? "T" : "N", &columns, &rows, &length, &one, b,
           &ldb, a, &lda, &beta, c, &columns);
    return;
  }
  const at::NoGradGuard no_grad;
  const at::Tensor left = transpose_a ? Matrix(a, k, m, a_row).t() : Matrix(a, m, k, a_row);
  const at::Tensor right = transpose_b ? Matrix(b, n, k, k).t() : Matrix(b, k, n, n);
  at::Tensor out = Matrix(c, m, n, n);
  if (accumulate) {
    out.addmm_(left, right);
  } else {
    at::mm_out(out, left, right);
  }
}

}  // namespace

namespace {

void Multiply(const Kernels& kernels, Team* team, int64_t rows, int64_t columns, int64_t length,
              const float* x, const float* w, const float* bias, bool relu, bool accumulate,
              float* y) {
  RunShares(team, rows, Work(rows, columns, length), [&](int64_t first, int64_t last, int) {
    const float* from = x + first * length;
    float* to = y + first * columns;
    if (IsLarge(columns, length)) {
      Blas(false, false, last - first, columns, length, from, length, w, accumulate, to);
      if (bias != nullptr || relu) kernels.bias_relu(bias, last - first, columns, relu, to);
      return;
    }
    GemmArgs args;
    args.rows = last - first;
    args.columns = columns;
    args.length = length;
    args.a = from;
    args.a_row = length;
    args.b = w;
    args.b_row = columns;
    args.c = to;
    args.c_row = columns;
    args.accumulate = accumulate;
    args.bias = bias;
    args.relu = relu;
    kernels.gemm(args);
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
      return Blas(false, true, last - first, length, columns, from, columns, w, accumulate, to);
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
    if (columns > 1 && IsLarge(columns, length)) {
      return Blas(true, false, last - first, columns, rows, x + first, length, dy, accumulate, to);
    }
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
    kernels.gemm(args);
  });
}

}  // namespace hopper
