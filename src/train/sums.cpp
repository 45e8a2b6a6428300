#include "train/sums.h"

#include <ATen/ops/clamp.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/repeat_interleave.h>

#include <algorithm>

#include "loss/part_rows.h"
#include "metrics/accumulate.h"
#include "metrics/planned_metrics.h"
#include "model/batch_sizes.h"

namespace hopper {

int64_t OutputWidth(const MetricParams& metric, const ModelSpec& spec) {
  const Shape& shape = spec.outputs[static_cast<size_t>(metric.part)].shape;
  return shape.empty() ? 1 : shape.back();
}

void CountRows(const ModelSpec& spec, CompileParams* compile) {
  for (MetricParams& metric : compile->metrics) {
    const auto part = static_cast<size_t>(metric.part);
    const LossOptions& options =
        part < compile->losses.size() ? compile->losses[part].options : compile->loss_options;
    const bool masked = spec.outputs[part].mask_size > 0;
    if (metric.type == &ConfusionMatrix()) {
      metric.by_row = masked || options.ignore_class.has_value();
    } else {
      metric.by_row = masked && metric.type->of_examples() && !metric.of_loss;
    }
  }
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

// Of a part's rows that count, and not of its examples.
void AddRowSums(const MetricParams& metric, const ObjectivePart& part, const at::Tensor& output,
                const Targets& targets, const at::Tensor& mask, const at::Tensor& weights,
                double* sums) {
  const bool ignores = !metric.type->of_examples();
  const PartRows rows = RowsOfPart(part, output, targets, mask, ignores);
  const at::Tensor counted = at::nonzero(rows.counts).reshape({-1});
  const auto take = [&](const at::Tensor& from) {
    return from.defined() ? at::index_select(from, 0, counted) : from;
  };
  const Targets labels = {take(rows.targets.classes), take(rows.targets.values),
                          rows.targets.num_classes};
  if (counted.numel() == 0) return;
  at::Tensor own = weights;
  if (own.defined()) own = at::repeat_interleave(own, part.rows(), 0);
  AddMetricSums(metric, take(rows.output), part.logits, part.last, labels, sums, take(own));
}

}  // namespace

at::Tensor MeasuredOutput(const MetricParams& metric, const ObjectivePart& part,
                          const at::Tensor& output) {
  if (!part.bounds || metric.of_loss) return output;
  return at::clamp(output, part.bounds->least, part.bounds->largest);
}

void AddMetrics(const CompileParams& compile, const ModelSpec& spec, const Objective& objective,
                const at::Tensor& output, const Targets& targets, MetricSums* sums) {
  const at::Tensor weights = ExampleWeights(objective, targets);
  double* at = RoomForSums(compile, spec, sums);
  for (const MetricParams& metric : compile.metrics) {
    const auto p = static_cast<size_t>(metric.part);
    const ObjectivePart& part = objective.parts[p];
    const at::Tensor own = MeasuredOutput(metric, part, PartOutput(objective, p, output));
    const Targets labels = PartTargets(objective, p, targets);
    if (metric.by_row) {
      AddRowSums(metric, part, own, labels, PartMask(objective, p, output), weights, at);
    } else if (metric.of_loss && part.by_row()) {
      at::Tensor losses = PartLossPerExample(objective, p, output, targets);
      if (weights.defined()) losses = at::mul(losses, weights);
      *at += SumOf(losses);
    } else {
      AddMetricSums(metric, own, part.logits, part.last, labels, at, weights);
    }
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
    const auto view = [&] {
      return MeasuredOutput(
          metric, part,
          at::from_blob(const_cast<float*>(planned.output(p)), WithBatch(batch, part.shape),
                        at::TensorOptions().dtype(at::kFloat)));
    };
    const at::Tensor cut = part.bounds ? view() : at::Tensor();
    const float* output = cut.defined() ? cut.const_data_ptr<float>() : planned.output(p);
    double sum = 0.0;
    if (metric.of_loss && !objective.plain && part.members == 0) {
      const float* losses = planned.losses(p);
      for (int64_t i = 0; i < batch; ++i) sum += static_cast<double>(losses[i]);
      *at += sum;
    } else if (metric.by_row) {
      AddRowSums(metric, part, view(), planned.targets(p), planned.mask(p), planned.weights(), at);
    } else if (!metric.weighted && SumPlannedMetric(metric, output, batch, part.shape, part.logits,
                                                    part.last, planned.targets(p), &sum)) {
      *at += sum;
    } else {
      AddMetricSums(metric, view(), part.logits, part.last, planned.targets(p), at,
                    planned.weights());
    }
    at += MetricSumCount(metric, part.width());
  }
}

}  // namespace hopper
