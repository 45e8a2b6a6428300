// Matrix products in planned ops; a team (null: none) shares the rows of what is computed.
#pragma once

#include "base/team.h"
#include "kernels/kernels.h"

namespace hopper {

// From this many weights on, a kernel does not stay in the second-level cache beside what it works
// on.
constexpr int64_t kLargeWeights = 64 * 1024;

// y[rows][columns] = x[rows][length] * w[length][columns] + bias, then relu.
void PlannedProduct(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                    int64_t length, const float* x, const float* w, const float* bias, bool relu,
                    float* y);

// y[rows][columns] += x * w
void PlannedProductAdded(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                         int64_t length, const float* x, const float* w, float* y);

// dx[rows][length] (+)= dy[rows][columns] * transposed w
void PlannedInputGradient(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                          int64_t length, const float* dy, const float* w, bool accumulate,
                          float* dx);

// dw[length][columns] (+)= transposed x * dy
void PlannedWeightGradient(const Kernels& kernels, Team* team, int64_t rows, int64_t columns,
                           int64_t length, const float* x, const float* dy, bool accumulate,
                           float* dw);

}  // namespace hopper
