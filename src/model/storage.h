// How a weight's floats lie in the parameter buffer.
#pragma once

#include "model/layer.h"

namespace hopper {

// One weight from C order of its Keras shape to its storage, and back.
void StoreWeight(const WeightSpec& weight, const float* keras, float* stored);
void LoadWeight(const WeightSpec& weight, const float* stored, float* keras);

}  // namespace hopper
