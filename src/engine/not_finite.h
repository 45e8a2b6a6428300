// The failure of a model whose loss or weights are not finite any more.
#pragma once

#include "base/error.h"
#include "train/trainer.h"

namespace hopper {

// `loss` is that of the visit, `state` the one that it left behind.
Problem NotFinite(const Trainer& trainer, double loss, const ModelState& state);

}  // namespace hopper
