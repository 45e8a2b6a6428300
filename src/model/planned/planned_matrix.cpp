#include "model/planned/planned_matrix.h"

namespace hopper {
namespace {

// Two operations a multiply-add.
double Work(int64_t rows, int64_t columns, int64_t length) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
         static_cast<double>(length);
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

void PlannedInputGradient(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                          int64_t length, const float* dy, const float* w, bool accumulate,
                          float* dx) {
  RunShares(team, rows, Work(rows, columns, length), [&](int64_t first, int64_t last, int) {
    GemmArgs args;
    args.rows = last - first;
    args.columns = length;
    args.length = columns;
    args.a = dy + first * columns;
    args.a_row = columns;
    args.b = w;
    args.b_row = 1;
    args.b_step = columns;
    args.c = dx + first * length;
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
    kernels.gemm(args);
  });
}

}  // namespace hopper
