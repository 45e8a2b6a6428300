// Operands of products of bfloat16 numbers in planned ops.
//
// Inputs, weights and gradients are rounded to bfloat16 where a product reads them; sums, and all
// that is stored between layers, are float32. Weights come from StepArguments::shadow.
#pragma once

#include "model/planned/planned_op.h"

namespace hopper {

// Whether the products of a layer with so many rows (of the whole batch), columns and terms of a
// sum take rounded operands in a step of bfloat16: smaller ones stay in float32, because rounding
// and packing takes longer there than the products gain. A function of the shape and of what the
// numerics class says; where it is false float32 is no slower (bench/step_bench,
// docs/performance.md).
bool RoundsOperands(const PlanNode& node, int64_t rows, int64_t columns, int64_t length);

// Floats of a buffer with so many bfloat16 numbers.
inline int64_t Bf16Floats(int64_t n) { return (n + 1) / 2; }
inline uint16_t* Bf16Data(const PlanBuffer* buffer) {
  return reinterpret_cast<uint16_t*>(buffer->data);
}
inline uint32_t* PairData(const PlanBuffer* buffer) {
  return reinterpret_cast<uint32_t*>(buffer->data);
}

// Panels of a packed right operand (kernels/bf16.h), from rows or columns of a matrix. `first` is
// the row of pairs where they go, `pairs` how many a panel has.
void PackRows(const Bf16Kernels& kernels, const float* x, int64_t x_row, int64_t rows,
              int64_t columns, int64_t first, int64_t pairs, uint32_t* packed);
void PackRoundedRows(const Bf16Kernels& kernels, const uint16_t* x, int64_t x_row, int64_t rows,
                     int64_t columns, int64_t first, int64_t pairs, uint32_t* packed);
void PackColumns(const Bf16Kernels& kernels, const uint16_t* x, int64_t x_row, int64_t length,
                 int64_t columns, int64_t first, int64_t pairs, uint32_t* packed);

// Rows of an even length for the left operand: an odd one gets a zero at its end.
void RoundRows(const Bf16Kernels& kernels, const float* x, int64_t rows, int64_t length,
               uint16_t* y);

}  // namespace hopper
