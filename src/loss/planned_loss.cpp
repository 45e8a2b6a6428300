#include "loss/planned_loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/keras_epsilon.h"
#include "loss/rows/rows.h"

namespace hopper {
namespace {

// Of the last axis.
int64_t ColumnsOf(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

// Whether a loss of sums adds over all axes of an example and not over the batch.
bool IsOfExamples(const std::vector<int>& axes, const Shape& shape) {
  const auto rank = static_cast<int>(shape.size()) + 1;
  std::vector<bool> summed(static_cast<size_t>(rank), false);
  for (const int axis : axes) summed[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  return !summed[0] && std::count(summed.begin(), summed.end(), true) == rank - 1;
}

}  // namespace

PlannedLoss::PlannedLoss(LossKind loss, const LossOptions& options, bool logits, int64_t batch,
                         const Shape& shape, const Kernels& kernels, const LossBackend& backend)
    : loss_(loss),
      options_(options),
      logits_(logits),
      batch_(batch),
      width_(ElementCount(shape)),
      columns_(ColumnsOf(shape)),
      shape_(shape),
      kernels_(kernels),
      backend_(backend),
      losses_(static_cast<size_t>(batch)),
      probabilities_(static_cast<size_t>(batch * width_)),
      scratch_(static_cast<size_t>(batch * width_)),
      numbers_(static_cast<size_t>(width_ == 1 ? batch : 0)) {}

PlannedLoss::Form PlannedLoss::FormOf(LossKind loss, const LossOptions& options, bool logits,
                                      const Shape& shape, bool classes, int64_t labels) {
  const LossType& type = LossTypeOf(loss);
  const int64_t width = ElementCount(shape);
  if (width < 1) return Form::kNone;
  const bool numbers = classes ? width == 1 : labels == width;
  const bool as_they_are = !options.from_logits && options.label_smoothing == 0.0;
  if (as_they_are && (logits || !type.from_logits)) {
    const bool rows = classes || (!type.class_numbers && numbers);
    if (type.logit_rows != nullptr && shape.size() == 1 && rows) return Form::kLogitRows;
    if (type.logit_rows == nullptr && type.elements != nullptr && numbers) return Form::kElements;
  }
  const int64_t columns = ColumnsOf(shape);
  const bool as_rows = classes              ? columns == width
                       : type.class_numbers ? labels == width / columns
                                            : labels == width;
  if (!as_rows) return Form::kNone;
  if (type.row != nullptr) return Form::kRows;
  if (type.overlap == nullptr) return Form::kNone;
  return options.axes.empty() || IsOfExamples(options.axes, shape) ? Form::kOverlap : Form::kNone;
}

bool PlannedLoss::HasLoop(LossKind loss, const LossOptions& options, bool logits,
                          const Shape& shape, bool classes, int64_t labels) {
  return FormOf(loss, options, logits, shape, classes, labels) != Form::kNone;
}

void PlannedLoss::Run(const float* output, const Targets& targets, const float* factors,
                      float* gradient) {
  switch (FormOf(loss_, options_, logits_, shape_, targets.classes != nullptr, targets.size)) {
    case Form::kLogitRows:
      return RunLogitRows(output, targets, factors, gradient);
    case Form::kElements:
      return RunElements(output, targets, factors, gradient);
    case Form::kRows:
      return RunRows(output, targets, factors, gradient);
    case Form::kOverlap:
      return RunOverlap(output, targets, factors, gradient);
    case Form::kNone:
      return backend_.RunLoss({loss_, options_, logits_, batch_, shape_, output, targets, factors,
                               losses_.data(), gradient});
  }
}

const float* PlannedLoss::Numbers(const Targets& targets) {
  if (targets.values != nullptr) return targets.values;
  for (int64_t i = 0; i < batch_; ++i) numbers_[i] = static_cast<float>(targets.classes[i]);
  return numbers_.data();
}

const float* PlannedLoss::Labels(const Targets& targets) {
  const int64_t rows = batch_ * width_ / columns_;
  if (labels_.size() == 0) labels_ = AlignedArray<float>(static_cast<size_t>(batch_ * width_));
  float* labels = labels_.data();
  const LossType& type = LossTypeOf(loss_);
  const bool by_class = type.class_numbers;
  const bool values = targets.values != nullptr;
  if (!by_class && (values || width_ == 1)) {
    std::memcpy(labels, Numbers(targets), sizeof(float) * labels_.size());
  } else {
    std::memset(labels, 0, sizeof(float) * labels_.size());
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t index = values ? static_cast<int64_t>(targets.values[i]) : targets.classes[i];
      labels[i * columns_ + loss_rows::CheckedClass(index, columns_)] = 1.0F;
    }
  }
  if (type.signed_labels && std::all_of(labels, labels + labels_.size(),
                                        [](float y) { return y * (1.0F - y) == 0.0F; })) {
    kernels_.scale(labels, 2.0F, -1.0F, batch_ * width_, labels);
  }
  if (options_.label_smoothing != 0.0) {
    const double towards = type.smooths_to_half ? 0.5 : 1.0 / static_cast<double>(columns_);
    kernels_.scale(labels, static_cast<float>(1.0 - options_.label_smoothing),
                   static_cast<float>(options_.label_smoothing * towards), batch_ * width_, labels);
  }
  return labels;
}

void PlannedLoss::RunRows(const float* output, const Targets& targets, const float* factors,
                          float* gradient) {
  const LossType& type = LossTypeOf(loss_);
  const float* labels = Labels(targets);
  const int64_t rows = width_ / columns_;
  for (int64_t i = 0; i < batch_; ++i) {
    float sum = 0.0F;
    for (int64_t row = i * rows; row < (i + 1) * rows; ++row) {
      sum += type.row(options_, logits_, output + row * columns_, labels + row * columns_, columns_,
                      scratch_.data() + row * columns_);
    }
    losses_[i] = rows == 1 ? sum : sum / static_cast<float>(rows);
    if (gradient == nullptr) continue;
    const float factor = rows == 1 ? factors[i] : factors[i] / static_cast<float>(rows);
    for (int64_t j = i * width_; j < (i + 1) * width_; ++j) gradient[j] = scratch_[j] * factor;
  }
}

void PlannedLoss::RunOverlap(const float* output, const Targets& targets, const float* factors,
                             float* gradient) {
  const LossType& type = LossTypeOf(loss_);
  const float* labels = Labels(targets);
  constexpr auto kEpsilon = static_cast<float>(kKerasEpsilon);
  const int64_t examples = options_.axes.empty() ? batch_ : 1;  // that share a value
  for (int64_t i = 0; i < batch_; i += examples) {
    const float* p = output + i * width_;
    const float* y = labels + i * width_;
    const int64_t n = examples * width_;
    OverlapSums sums;
    for (int64_t j = 0; j < n; ++j) {
      sums.shared += y[j] * p[j];
      sums.labelled += y[j];
      sums.given += p[j];
      sums.missed += (1.0F - p[j]) * y[j];
      sums.extra += p[j] * (1.0F - y[j]);
    }
    const auto [above, sum_below] = type.overlap(options_, sums);
    const float below = sum_below + kEpsilon;
    float factor = 0.0F;
    for (int64_t k = i; k < i + examples; ++k) {
      losses_[k] = 1.0F - above / below;
      if (gradient != nullptr) factor += factors[k];
    }
    if (gradient == nullptr) continue;
    type.overlap_gradient(options_, y, n, above / below, below, factor, gradient + i * width_);
  }
}

void PlannedLoss::RunLogitRows(const float* output, const Targets& targets, const float* factors,
                               float* gradient) {
  LogitRows rows = {output,  batch_,         width_,   targets.classes,
                    nullptr, losses_.data(), gradient, factors};
  if (rows.classes == nullptr) rows.labels = Numbers(targets);
  if (gradient == nullptr) {
    rows.gradient = probabilities_.data();
    rows.factors = nullptr;
  }
  LossTypeOf(loss_).logit_rows(kernels_, rows);
}

void PlannedLoss::RunElements(const float* output, const Targets& targets, const float* factors,
                              float* gradient) {
  // Losses of single outputs in scratch_, their gradients in probabilities_.
  LossTypeOf(loss_).elements(kernels_, output, Numbers(targets), batch_ * width_, scratch_.data(),
                             probabilities_.data());
  const float share = 1.0F / static_cast<float>(width_);
  for (int64_t i = 0; i < batch_; ++i) {
    const float* row = scratch_.data() + i * width_;
    float sum = 0.0F;
    for (int64_t j = 0; j < width_; ++j) sum += row[j];
    losses_[i] = width_ == 1 ? sum : sum * share;
    if (gradient == nullptr) continue;
    const float factor = width_ == 1 ? factors[i] : factors[i] * share;
    const float* derivatives = probabilities_.data() + i * width_;
    for (int64_t j = 0; j < width_; ++j) gradient[i * width_ + j] = derivatives[j] * factor;
  }
}

}  // namespace hopper
