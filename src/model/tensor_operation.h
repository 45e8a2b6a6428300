// Operations on tensors (x[:, 0], keras.ops.mean(x)) that Keras has as no layer. They are rows of
// the layer table, too, but a file says them in other ways, and hopper.layers() does not show them.
#pragma once

#include "model/layer.h"

namespace hopper {

// LayerType::since of such a row.
constexpr const char* kOperationOnly = "";

inline bool IsOperationOnly(const LayerType& type) { return *type.since == '\0'; }

}  // namespace hopper
