#include "train/sums.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "metrics/accumulate.h"
#include "metrics/planned_metrics.h"
#include "model/batch_sizes.h"

namespace hopper {

int64_t OutputWidth(const MetricParams& metric, const ModelSpec& spec) {
  const Shape& shape = spec.outputs[static_cast<size_t>(metric.part)].shape;
  return shape.empty() ? 1 : shape.back();
}

int64_t SumCount(const CompileParams& compile, const ModelSpec& spec) {
  int64_t count = 0;
  for (const MetricParams& metric : compile.metrics) {
    count += MetricSumCount(metric, OutputWidth(metric, spec));
  }
  return count;
}

namespace {

// Makes room for the sums of all metrics; the first of them.
double* RoomForSums(const CompileParams& compile, const ModelSpec& spec, MetricSums* sums) {
  const auto count = static_cast<size_t>(SumCount(compile, spec));
  sums->metrics.resize(std::max(count, sums->metrics.size()), 0.0);
  return sums->metrics.data();
}

}  // namespace

void AddMetrics(const CompileParams& compile, const ModelSpec& spec, const Objective& objective,
                const at::Tensor& output, const Targets& targets, MetricSums* sums) {
  const at::Tensor weights = ExampleWeights(objective, targets);
  double* at = RoomForSums(compile, spec, sums);
  for (const MetricParams& metric : compile.metrics) {
    const auto p = static_cast<size_t>(metric.part);
    const ObjectivePart& part = objective.parts[p];
    AddMetricSums(metric, PartOutput(objective, p, output), part.logits, part.last,
                  PartTargets(objective, p, targets), at, weights);
    at += MetricSumCount(metric, part.width());
  }
}

void AddPlannedMetrics(const CompileParams& compile, const ModelSpec& spec,
                       const Objective& objective, const PlannedObjective& planned, int64_t batch,
                       MetricSums* sums) {
  double* at = RoomForSums(compile, spec, sums);
  for (const MetricParams& metric : compile.metrics) {
    const auto p = static_cast<size_t>(metric.part);
    const ObjectivePart& part = objective.parts[p];
    const float* output = planned.output(p);
    double sum = 0.0;
    if (metric.of_loss && !objective.plain) {
      const float* losses = planned.losses(p);
      for (int64_t i = 0; i < batch; ++i) sum += static_cast<double>(losses[i]);
      *at += sum;
    } else if (!metric.weighted && SumPlannedMetric(metric, output, batch, part.shape, part.logits,
                                                    part.last, planned.targets(p), &sum)) {
      *at += sum;
    } else {
      const at::Tensor view =
          at::from_blob(const_cast<float*>(output), WithBatch(batch, part.shape),
                        at::TensorOptions().dtype(at::kFloat));
      AddMetricSums(metric, view, part.logits, part.last, planned.targets(p), at,
                    planned.weights());
    }
    at += MetricSumCount(metric, part.width());
  }
}

}  // namespace hopper
