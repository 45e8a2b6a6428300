// A user's expression over labels and outputs (params/expression.h).
#pragma once

#include "loss/rows/rows.h"

namespace hopper {
namespace loss_rows {

struct ExpressionLoss {
  static LossType Type() {
    LossType type;
    type.name = "expr";
    type.listed = false;
    return type;
  }
  // One value an example, also where the expression knows only the batch.
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(c.ExpressionValues());
  }
};

}  // namespace loss_rows
}  // namespace hopper
