// How a weight's floats lie in the parameter buffer.
#pragma once

#include "model/layer.h"

namespace hopper {

// One weight from its storage to C order of its Keras shape.
void LoadWeight(const WeightSpec& weight, const float* stored, float* keras);
// The reverse of `n` elements of that C order, of which keras[0] is number `first`.
void StoreWeightPart(const WeightSpec& weight, int64_t first, const float* keras, int64_t n,
                     float* stored);

}  // namespace hopper
