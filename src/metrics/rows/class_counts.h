// Positions by label and most likely class, for evaluate(): the sums are what it asks for.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

struct ClassCounts {
  static MetricType Type() {
    MetricType type;
    type.summed = Summed::kClassMatrix;
    type.value = [](const MetricParams& /*metric*/, const double* /*sums*/,
                    const SummedOver& /*of*/) { return 0.0; };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
