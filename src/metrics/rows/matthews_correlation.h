// Matthews' correlation coefficient of labels and predicted classes, for any number of them:
// sklearn.metrics.matthews_corrcoef, after Gorodkin (2004).
#pragma once

#include "metrics/rows/class_matrix.h"

namespace hopper {
namespace metric_rows {

struct MatthewsCorrelation : ClassMatrixSums {
  static MetricType Type() {
    MetricType type;
    type.names = {"matthews_correlation"};
    type.aliases = {"matthews_correlation_coefficient", "matthews_corrcoef", "mcc"};
    type.direction = Direction::kUp;
    type.value = [](const MetricParams& /*metric*/, const double* sums, const SummedOver& of) {
      const int64_t classes = ClassCount(of.width);
      double all = 0.0, right = 0.0, both = 0.0, labels = 0.0, predictions = 0.0;
      for (int64_t i = 0; i < classes; ++i) {
        double label = 0.0, prediction = 0.0;
        for (int64_t j = 0; j < classes; ++j) {
          label += sums[i * classes + j];
          prediction += sums[j * classes + i];
        }
        all += label;
        right += sums[i * classes + i];
        both += label * prediction;
        labels += label * label;
        predictions += prediction * prediction;
      }
      // 0 where labels or predictions are all alike.
      return Divide(right * all - both,
                    std::sqrt((all * all - labels) * (all * all - predictions)));
    };
    type.arguments = [](MetricParams* /*metric*/, ArgumentList* arguments) {
      arguments->AddUnused(
          "num_classes", [](const Value& value, const std::string& label, ProblemList* problems) {
            ReadInteger(value, 2, std::numeric_limits<int>::max(), label, problems);
          });
    };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
