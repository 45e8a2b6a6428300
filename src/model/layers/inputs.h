// How many inputs a layer wants.
#pragma once

#include "model/layer.h"

namespace hopper {

// Throws unless there is one.
void RequireOneInput(const Layer& layer, const std::vector<Shape>& inputs);
// Throws where there is none.
void RequireInputs(const Layer& layer, const std::vector<Shape>& inputs);
[[noreturn]] void ThrowDoNotFit(const Layer& layer, const Shape& a, const Shape& b);

}  // namespace hopper
