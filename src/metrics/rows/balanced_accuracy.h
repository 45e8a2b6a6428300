// The mean over classes of the share of a class' examples that are found, for labels of unequal
// frequency: sklearn.metrics.balanced_accuracy_score, after Brodersen et al. (2010).
#pragma once

#include "metrics/rows/class_matrix.h"

namespace hopper {
namespace metric_rows {

struct BalancedAccuracy : ClassMatrixSums {
  static MetricType Type() {
    MetricType type;
    type.names = {"balanced_accuracy"};
    type.aliases = {"balanced_accuracy_score"};
    type.direction = Direction::kUp;
    type.value = [](const MetricParams& /*metric*/, const double* sums, const SummedOver& of) {
      const int64_t classes = ClassCount(of.width);
      double recalls = 0.0, occurring = 0.0;
      for (int64_t i = 0; i < classes; ++i) {
        double label = 0.0;
        for (int64_t j = 0; j < classes; ++j) label += sums[i * classes + j];
        if (label == 0.0) continue;  // a class without examples has no recall
        recalls += sums[i * classes + i] / label;
        occurring += 1.0;
      }
      return Divide(recalls, occurring);
    };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
