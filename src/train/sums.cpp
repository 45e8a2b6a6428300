#include "train/sums.h"

#include "metrics/metrics.h"

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

}  // namespace hopper
