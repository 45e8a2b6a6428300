#include "train/sums.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "metrics/accumulate.h"
#include "metrics/planned_metrics.h"

namespace hopper {

int64_t OutputWidth(const ModelSpec& spec) {
  return spec.output_shape().empty() ? 1 : spec.output_shape().back();
}

int64_t SumCount(const CompileParams& compile, const ModelSpec& spec) {
  const int64_t width = OutputWidth(spec);
  int64_t count = 0;
  for (const MetricParams& metric : compile.metrics) count += MetricSumCount(metric, width);
  return count;
}

double SumOf(const at::Tensor& values) {
  const at::Tensor dense = values.contiguous();
  const float* data = dense.data_ptr<float>();
  const int64_t n = dense.numel();
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(data[i]);
  return sum;
}

namespace {

// Makes room for the sums of all metrics; the first of them.
double* RoomForSums(const CompileParams& compile, const ModelSpec& spec, MetricSums* sums) {
  const auto count = static_cast<size_t>(SumCount(compile, spec));
  sums->metrics.resize(std::max(count, sums->metrics.size()), 0.0);
  return sums->metrics.data();
}

}  // namespace

void AddMetrics(const CompileParams& compile, const ModelSpec& spec, const at::Tensor& output,
                bool logits, const Targets& targets, MetricSums* sums) {
  const int64_t width = OutputWidth(spec);
  double* at = RoomForSums(compile, spec, sums);
  for (const MetricParams& metric : compile.metrics) {
    AddMetricSums(metric, output, logits, spec.final_activation, targets, at);
    at += MetricSumCount(metric, width);
  }
}

void AddPlannedMetrics(const CompileParams& compile, const ModelSpec& spec, const float* output,
                       int64_t batch, bool logits, const Targets& targets, MetricSums* sums) {
  const int64_t width = OutputWidth(spec);
  double* at = RoomForSums(compile, spec, sums);
  for (const MetricParams& metric : compile.metrics) {
    double sum = 0.0;
    if (SumPlannedMetric(metric, output, batch, spec.output_shape(), logits, spec.final_activation,
                         targets, &sum)) {
      *at += sum;
    } else {
      std::vector<int64_t> sizes{batch};
      sizes.insert(sizes.end(), spec.output_shape().begin(), spec.output_shape().end());
      const at::Tensor view =
          at::from_blob(const_cast<float*>(output), sizes, at::TensorOptions().dtype(at::kFloat));
      AddMetricSums(metric, view, logits, spec.final_activation, targets, at);
    }
    at += MetricSumCount(metric, width);
  }
}

}  // namespace hopper
