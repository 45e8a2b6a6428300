// The failure of a model whose loss or weights are not finite any more.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "train/trainer.h"

namespace hopper {

// `loss` is that of the visit, `state` the one that it left behind.
Problem NotFinite(const Trainer& trainer, double loss, const ModelState& state);

// Bytes at the beginning of a failure's message that failures for the same reason have alike: of
// NotFinite()'s all but when it came, of others the whole message.
size_t ReasonSize(const std::string& message);

}  // namespace hopper
