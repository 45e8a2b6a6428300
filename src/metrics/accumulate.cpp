#include "metrics/accumulate.h"

#include <ATen/ops/mul.h>

#include <algorithm>

#include "metrics/metrics.h"

namespace hopper {

double SumOf(const at::Tensor& values) {
  const at::Tensor dense = values.contiguous();
  const float* data = dense.data_ptr<float>();
  double sum = 0.0;
  for (int64_t i = 0; i < dense.numel(); ++i) sum += static_cast<double>(data[i]);
  return sum;
}

void AddMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                   Activation last, const Targets& targets, double* sums,
                   const at::Tensor& weights) {
  if (metric.type->of_examples()) {
    at::Tensor values = MetricPerExample(metric, output, logits, last, targets);
    const bool weighs = weights.defined() && (metric.weighted || metric.of_loss);
    if (weighs) values = at::mul(values, weights);
    sums[0] += SumOf(values);
    if (metric.weighted || metric.by_row) {
      sums[1] += weighs ? SumOf(weights) : static_cast<double>(values.numel());
    }
    return;
  }
  const at::Tensor outputs = CountedOutputs(metric, output, logits, last).contiguous();
  const at::Tensor labels = TargetValues(targets, outputs).contiguous();
  const int64_t width = outputs.size(-1);
  metric.type->add(metric,
                   {outputs.const_data_ptr<float>(), labels.const_data_ptr<float>(),
                    outputs.numel() / std::max<int64_t>(width, 1), width},
                   sums);
}

}  // namespace hopper
