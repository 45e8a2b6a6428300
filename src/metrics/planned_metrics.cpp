#include "metrics/planned_metrics.h"

#include <ATen/core/Tensor.h>

namespace hopper {

bool SumPlannedMetric(const MetricParams& metric, const float* output, int64_t batch,
                      const Shape& shape, bool logits, Activation last, const Targets& targets,
                      double* sum) {
  if (metric.type->sum_rows == nullptr || shape.size() != 1 || shape[0] < 1) return false;
  OutputRows rows = {output, batch, shape[0], logits, last, nullptr, nullptr};
  if (targets.classes.defined()) {
    rows.classes = targets.classes.const_data_ptr<int64_t>();
  } else if (targets.values.numel() == batch) {
    rows.numbers = targets.values.const_data_ptr<float>();
  }
  return metric.type->sum_rows(metric, rows, sum);
}

}  // namespace hopper
