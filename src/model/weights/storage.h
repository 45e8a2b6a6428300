// How a weight's floats lie in the parameter buffer.
#pragma once

#include "model/layer.h"

namespace hopper {

// One weight from its storage to C order of its Keras shape.
void LoadWeight(const WeightSpec& weight, const float* stored, float* keras);

}  // namespace hopper
