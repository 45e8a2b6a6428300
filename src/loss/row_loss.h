// Losses of rows of outputs with their slopes, in float32 and without tensors.
#pragma once

#include <cstdint>

#include "params/params.h"

namespace hopper {

// One row of n outputs p (probabilities, numbers, or logits where `logits` is true) against n
// labels y: the loss, and its derivative by each output. Element losses are means over the row.
// Formulas and the derivatives at corners as LossPerExample(); labels are smoothed already, and
// those of hinges are -1 and 1. Only for what HasRowLoss() is true for.
float RowLoss(LossKind loss, const LossOptions& options, bool logits, const float* p,
              const float* y, int64_t n, float* slopes);

// Not of losses of a whole batch (Dice, Tversky), nor of expressions.
bool HasRowLoss(LossKind loss);

}  // namespace hopper
