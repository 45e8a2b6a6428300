#include "metrics/metric_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/worker_memory.h"
#include "loss/planned_loss.h"
#include "loss/rows/crossentropy.h"

namespace hopper {
namespace {

int64_t WidthOf(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

// What a batch is made into for a metric.
class Measured {
 public:
  explicit Measured(const MetricBatch& batch)
      : batch_(batch),
        width_(WidthOf(batch.shape)),
        elements_(batch.batch * ElementCount(batch.shape)) {}

  int64_t width() const { return width_; }
  int64_t elements() const { return elements_; }
  int64_t rows() const { return elements_ / std::max<int64_t>(width_, 1); }
  // Numbers that name classes, one where the model has a row of outputs.
  bool HasClassNumbers() const {
    return batch_.targets.values != nullptr && width_ > 1 &&
           batch_.targets.size * width_ == ElementCount(batch_.shape);
  }

  // What the model puts out.
  const float* Probabilities() {
    return batch_.logits ? Activated(batch_.last, batch_.output) : batch_.output;
  }
  const float* SigmoidOf(const float* x) { return Activated(Activation::kSigmoid, x); }

  // As many as there are outputs: classes are one-hot, those of a single output their number.
  const float* Labels() {
    const Targets& targets = batch_.targets;
    const bool numbers = HasClassNumbers();
    if (targets.values != nullptr && !numbers) return targets.values;
    labels_ = WorkerArray(elements_);
    float* labels = labels_.data();
    const int64_t width = numbers ? width_ : ElementCount(batch_.shape);
    if (width == 1) {
      std::copy_n(targets.classes, elements_, labels);
      return labels;
    }
    std::fill_n(labels, elements_, 0.0F);
    for (int64_t i = 0; i * width < elements_; ++i) {
      const int64_t index = numbers ? static_cast<int64_t>(targets.values[i]) : targets.classes[i];
      labels[i * width + loss_rows::CheckedClass(index, width)] = 1.0F;
    }
    return labels;
  }

 private:
  // Not by the kernels, whose exponentials are never 0: what has vanished is at a threshold of 0.
  const float* Activated(Activation activation, const float* x) {
    WorkerArray made(elements_);
    float* y = made.data();
    if (activation == Activation::kSigmoid) {
      std::transform(x, x + elements_, y, [](float z) { return 1.0F / (1.0F + std::exp(-z)); });
    } else {
      for (int64_t first = 0; first < elements_; first += width_) {
        const float sum = loss_rows::ExpOf(x + first, width_, y + first).first;
        for (int64_t j = first; j < first + width_; ++j) y[j] /= sum;
      }
    }
    activated_ = std::move(made);
    return activated_.data();
  }

  const MetricBatch& batch_;
  const int64_t width_;
  const int64_t elements_;
  WorkerArray activated_;
  WorkerArray labels_;
};

// The value of each example of a metric that is a loss.
std::vector<double> LossValues(const MetricParams& metric, const MetricBatch& batch) {
  Measured measured(batch);
  const MetricLoss of = metric.type->loss(metric, measured.width(), measured.HasClassNumbers());
  // Crossentropies take the logits where there are some, as they do for training.
  const bool logits = batch.logits && UsesLogits(of.loss, batch.last);
  Targets targets = batch.targets;
  if (!PlannedLoss::HasLoop(of.loss, of.options, logits, batch.shape, targets.classes != nullptr,
                            targets.size)) {
    targets.classes = nullptr;
    targets.values = measured.Labels();
    targets.size = ElementCount(batch.shape);
  }
  PlannedLoss loss(of.loss, of.options, logits, batch.batch, batch.shape, batch.kernels,
                   batch.backend);
  loss.Run(logits ? batch.output : measured.Probabilities(), targets, nullptr, nullptr);
  std::vector<double> values(loss.losses(), loss.losses() + batch.batch);
  for (double& value : values) value = metric.type->negative_loss ? -value : value;
  return values;
}

// The mean over each example's positions.
std::vector<double> PositionValues(const MetricParams& metric, const MetricBatch& batch) {
  Measured measured(batch);
  const int64_t width = measured.width();
  const int64_t positions = ElementCount(batch.shape) / std::max<int64_t>(width, 1);
  OutputRows rows = {batch.output, batch.batch, positions, width,  batch.logits,
                     batch.last,   nullptr,     nullptr,   nullptr};
  const Targets& targets = batch.targets;
  if (targets.classes != nullptr) {
    rows.classes = targets.classes;
  } else if (measured.HasClassNumbers()) {
    rows.numbers = targets.values;
  } else {
    rows.labels = targets.values;
  }
  if (metric.type->of_probabilities != nullptr && metric.type->of_probabilities(metric, rows)) {
    rows.outputs = measured.Probabilities();
  }
  std::vector<double> values;
  values.reserve(static_cast<size_t>(batch.batch));
  for (int64_t i = 0; i < batch.batch; ++i) {
    double sum = 0.0;
    for (int64_t position = i * positions; position < (i + 1) * positions; ++position) {
      sum += metric.type->value_at(metric, rows, position);
    }
    values.push_back(sum / static_cast<double>(positions));
  }
  return values;
}

}  // namespace

bool MetricHasLoop(const MetricParams& metric, const Shape& shape) {
  if (metric.type->loss == nullptr) return true;
  const MetricLoss of = metric.type->loss(metric, WidthOf(shape), false);
  return PlannedLoss::HasLoop(of.loss, of.options, false, shape, false, ElementCount(shape));
}

void AddMetricSums(const MetricParams& metric, const MetricBatch& batch, double* sums) {
  if (metric.type->of_examples()) {
    const bool weighs = batch.weights != nullptr && (metric.weighted || metric.of_loss);
    const std::vector<double> values =
        metric.type->loss != nullptr ? LossValues(metric, batch) : PositionValues(metric, batch);
    double sum = 0.0, of_weights = 0.0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double weight = weighs ? static_cast<double>(batch.weights[i]) : 1.0;
      sum += values[i] * weight;
      of_weights += weight;
    }
    sums[0] += sum;
    if (metric.weighted || metric.by_row) sums[1] += of_weights;
    return;
  }
  Measured measured(batch);
  const float* outputs = measured.Probabilities();
  if (metric.loss_options.from_logits) outputs = measured.SigmoidOf(outputs);
  metric.type->add(metric, {outputs, measured.Labels(), measured.rows(), measured.width()}, sums);
}

}  // namespace hopper
