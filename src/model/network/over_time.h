// Layers over series by those over images of height 1.
#pragma once

#include <memory>

#include "model/network/operator.h"

namespace hopper {

// `image` on [batch, steps, features] as [batch, 1, steps, features]; `kernel`: its first weight
// gets a height, too.
std::unique_ptr<Operator> OverTime(std::unique_ptr<Operator> image, bool kernel);

}  // namespace hopper
