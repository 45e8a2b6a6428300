// Layers over series by those over images of height 1.
#pragma once

#include <memory>

#include "model/network/operator.h"

namespace hopper {

// `image` on [batch, steps, features] as [batch, 1, steps, features]; the first `kernels` of its
// weights get a height, too.
std::unique_ptr<Operator> OverTime(std::unique_ptr<Operator> image, size_t kernels);

}  // namespace hopper
