#include "train/sums.h"

#include <algorithm>
#include <vector>

#include "loss/part_rows.h"
#include "metrics/metric_sums.h"

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

// A part's output or, where labels were scaled, what predict() would make of it; of `n` numbers. A
// loss is of what the model puts out. They may lie in `room`.
const float* MeasuredOutput(const MetricParams& metric, const ObjectivePart& part,
                            const float* output, int64_t n, std::vector<float>* room) {
  if (!part.bounds || metric.of_loss) return output;
  room->resize(static_cast<size_t>(n));
  const auto least = static_cast<float>(part.bounds->least);
  const auto largest = static_cast<float>(part.bounds->largest);
  std::transform(output, output + n, room->begin(),
                 [&](float x) { return std::clamp(x, least, largest); });
  return room->data();
}

// The rows of `batch` that count, and not the examples.
void AddRowSums(const MetricParams& metric, const ObjectivePart& part, const StepMask& mask,
                const MetricBatch& batch, double* sums) {
  const bool ignores = !metric.type->of_examples();
  const PartRows rows(part, batch.batch, batch.targets, mask, ignores);
  const int64_t width = part.width();
  const bool by_class = rows.targets().classes != nullptr;
  std::vector<float> outputs, values, weights;
  std::vector<int64_t> classes;
  int64_t counted = 0;
  for (int64_t row = 0; row < rows.size(); ++row) {
    if (!rows.counts(row)) continue;
    ++counted;
    outputs.insert(outputs.end(), batch.output + row * width, batch.output + (row + 1) * width);
    if (by_class) {
      classes.push_back(rows.targets().classes[row]);
    } else {
      const float* own = rows.targets().values + row * width;
      values.insert(values.end(), own, own + width);
    }
    if (batch.weights != nullptr) weights.push_back(batch.weights[row / part.rows()]);
  }
  if (counted == 0) return;
  Targets targets;
  targets.classes = by_class ? classes.data() : nullptr;
  targets.values = by_class ? nullptr : values.data();
  targets.size = width;
  targets.num_classes = width;
  AddMetricSums(metric,
                {outputs.data(), counted, Shape{width}, batch.logits, batch.last, targets,
                 batch.weights == nullptr ? nullptr : weights.data(), batch.kernels, batch.backend},
                sums);
}

}  // namespace

void AddMetrics(const CompileParams& compile, const ModelSpec& spec,
                const PlannedObjective& planned, MetricSums* sums) {
  const Objective& objective = planned.objective();
  const int64_t batch = planned.batch();
  std::vector<float> room;
  double* at = RoomForSums(compile, spec, sums);
  for (const MetricParams& metric : compile.metrics) {
    const auto p = static_cast<size_t>(metric.part);
    const ObjectivePart& part = objective.parts[p];
    if (metric.of_loss && !objective.plain && part.members == 0) {
      double sum = 0.0;
      for (int64_t i = 0; i < batch; ++i) sum += static_cast<double>(planned.losses(p)[i]);
      *at += sum;
    } else {
      const float* output =
          MeasuredOutput(metric, part, planned.output(p), batch * part.size, &room);
      const MetricBatch measured = {output,
                                    batch,
                                    part.shape,
                                    part.logits,
                                    part.last,
                                    planned.targets(p),
                                    planned.weights(),
                                    planned.kernels(),
                                    planned.backend()};
      if (metric.by_row) {
        AddRowSums(metric, part, planned.mask(p), measured, at);
      } else {
        AddMetricSums(metric, measured, at);
      }
    }
    at += MetricSumCount(metric, part.width());
  }
}

}  // namespace hopper
