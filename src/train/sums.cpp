#include "train/sums.h"

#include <ATen/ops/from_blob.h>

#include "metrics/metrics.h"
#include "metrics/planned_metrics.h"

namespace hopper {

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
  sums->metrics.resize(compile.metrics.size(), 0.0);
  for (size_t i = 0; i < compile.metrics.size(); ++i) {
    sums->metrics[i] +=
        SumOf(MetricPerExample(compile.metrics[i], output, logits, spec.final_activation, targets));
  }
}

void AddPlannedMetrics(const CompileParams& compile, const ModelSpec& spec, const float* output,
                       int64_t batch, bool logits, const Targets& targets, MetricSums* sums) {
  sums->metrics.resize(compile.metrics.size(), 0.0);
  for (size_t i = 0; i < compile.metrics.size(); ++i) {
    double sum = 0.0;
    if (!SumPlannedMetric(compile.metrics[i], output, batch, spec.output_shape(), logits,
                          spec.final_activation, targets, &sum)) {
      std::vector<int64_t> sizes{batch};
      sizes.insert(sizes.end(), spec.output_shape().begin(), spec.output_shape().end());
      const at::Tensor view =
          at::from_blob(const_cast<float*>(output), sizes, at::TensorOptions().dtype(at::kFloat));
      sum =
          SumOf(MetricPerExample(compile.metrics[i], view, logits, spec.final_activation, targets));
    }
    sums->metrics[i] += sum;
  }
}

}  // namespace hopper
