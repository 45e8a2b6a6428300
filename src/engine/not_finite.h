// The failure of a model whose loss or weights are not finite any more.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "train/trainer.h"

namespace hopper {

// `loss` is that of the visit, `step` the optimizer's count of steps so far.
Problem NotFinite(const Trainer& trainer, double loss, int64_t step);

}  // namespace hopper
