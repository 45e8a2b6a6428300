#include "metrics/planned_metrics.h"

#include <ATen/core/Tensor.h>

#include "metrics/largest.h"

namespace hopper {

bool SumPlannedMetric(const MetricParams& metric, const float* output, int64_t batch,
                      const Shape& shape, bool logits, Activation last, const Targets& targets,
                      double* sum) {
  if (shape.size() != 1 || shape[0] < 1) return false;
  const int64_t width = shape[0];
  const ExampleValue kind = metric.type->example;
  int64_t right = 0;
  const bool categorical = kind == ExampleValue::kAccuracy ||
                           kind == ExampleValue::kCategoricalAccuracy ||
                           kind == ExampleValue::kSparseCategoricalAccuracy;
  if (width > 1 && categorical && targets.classes.defined()) {
    const int64_t* classes = targets.classes.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < batch; ++i)
      right += LargestPlace(output + i * width, width) == classes[i];
    *sum = static_cast<double>(right);
    return true;
  }
  const bool binary = kind == ExampleValue::kAccuracy ||
                      (kind == ExampleValue::kBinaryAccuracy && !metric.threshold);
  if (width == 1 && binary && !(logits && last != Activation::kSigmoid)) {
    const float threshold = logits ? 0.0F : 0.5F;  // sigmoid(x) > 0.5 where x > 0
    if (targets.classes.defined()) {
      const int64_t* classes = targets.classes.const_data_ptr<int64_t>();
      for (int64_t i = 0; i < batch; ++i) right += classes[i] == (output[i] > threshold ? 1 : 0);
    } else {
      if (targets.values.numel() != batch) return false;
      const float* values = targets.values.const_data_ptr<float>();
      for (int64_t i = 0; i < batch; ++i) {
        right += values[i] == (output[i] > threshold ? 1.0F : 0.0F);
      }
    }
    *sum = static_cast<double>(right);
    return true;
  }
  return false;
}

}  // namespace hopper
