#include "train/sums.h"

#include <algorithm>

#include "metrics/accumulate.h"

namespace hopper {

int64_t OutputWidth(const ModelSpec& spec) {
  return spec.output_shape().empty() ? 1 : spec.output_shape().back();
}

double SumOf(const at::Tensor& values) {
  const at::Tensor dense = values.contiguous();
  const float* data = dense.data_ptr<float>();
  const int64_t n = dense.numel();
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(data[i]);
  return sum;
}

void AddMetrics(const CompileParams& compile, const ModelSpec& spec, const at::Tensor& output,
                bool logits, const Targets& targets, MetricSums* sums) {
  const int64_t width = OutputWidth(spec);
  size_t count = 0;
  for (const MetricParams& metric : compile.metrics) {
    count += static_cast<size_t>(MetricSumCount(metric, width));
  }
  sums->metrics.resize(std::max(count, sums->metrics.size()), 0.0);
  double* at = sums->metrics.data();
  for (const MetricParams& metric : compile.metrics) {
    AddMetricSums(metric, output, logits, spec.final_activation, targets, at);
    at += MetricSumCount(metric, width);
  }
}

}  // namespace hopper
