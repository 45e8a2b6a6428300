#include "loss/planned_loss.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/keras_epsilon.h"
#include "loss/rows/rows.h"
#include "model/batch_sizes.h"
#include "params/loss_type.h"

namespace hopper {
PlannedLoss::PlannedLoss(LossKind loss, const LossOptions& options, bool logits, Activation last,
                         int64_t batch, const Shape& shape, const Kernels& kernels)
    : loss_(loss),
      options_(options),
      logits_(logits),
      last_(last),
      batch_(batch),
      width_(ElementCount(shape)),
      columns_(shape.empty() ? 1 : shape.back()),
      shape_(shape),
      kernels_(kernels),
      losses_(static_cast<size_t>(batch)),
      probabilities_(static_cast<size_t>(batch * width_)),
      scratch_(static_cast<size_t>(batch * width_)),
      numbers_(static_cast<size_t>(width_ == 1 ? batch : 0)) {}

void PlannedLoss::Run(const float* output, const Targets& targets, const float* factors,
                      float* gradient) {
  used_autograd_ = !RunByKernels(output, targets, factors, gradient) &&
                   !RunRows(output, targets, factors, gradient) &&
                   !RunOverlap(output, targets, factors, gradient);
  if (used_autograd_) RunAutograd(output, targets, factors, gradient);
}

const float* PlannedLoss::Numbers(const Targets& targets) {
  if (targets.values.defined()) {
    return targets.values.numel() == batch_ * width_ ? targets.values.const_data_ptr<float>()
                                                     : nullptr;
  }
  if (width_ != 1) return nullptr;
  const int64_t* classes = targets.classes.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < batch_; ++i) numbers_[i] = static_cast<float>(classes[i]);
  return numbers_.data();
}

const float* PlannedLoss::Labels(const Targets& targets) {
  if (width_ < 1) return nullptr;
  const int64_t rows = batch_ * width_ / columns_;
  if (labels_.size() == 0) labels_ = AlignedArray<float>(static_cast<size_t>(batch_ * width_));
  float* labels = labels_.data();
  const LossType& type = LossTypeOf(loss_);
  const bool by_class = type.class_numbers;
  const auto set_class = [&](int64_t row, int64_t index) {
    labels[row * columns_ + loss_rows::CheckedClass(index, columns_)] = 1.0F;
  };
  if (targets.values.defined() && !by_class) {
    const float* numbers = Numbers(targets);
    if (numbers == nullptr) return nullptr;
    std::memcpy(labels, numbers, sizeof(float) * labels_.size());
  } else if (targets.values.defined()) {
    if (targets.values.numel() != rows) return nullptr;
    std::memset(labels, 0, sizeof(float) * labels_.size());
    const float* classes = targets.values.const_data_ptr<float>();
    for (int64_t i = 0; i < rows; ++i) set_class(i, static_cast<int64_t>(classes[i]));
  } else if (columns_ != width_) {
    return nullptr;
  } else if (width_ == 1 && !by_class) {
    std::memcpy(labels, Numbers(targets), sizeof(float) * labels_.size());
  } else {
    std::memset(labels, 0, sizeof(float) * labels_.size());
    const int64_t* classes = targets.classes.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < batch_; ++i) set_class(i, classes[i]);
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

bool PlannedLoss::RunRows(const float* output, const Targets& targets, const float* factors,
                          float* gradient) {
  const LossType& type = LossTypeOf(loss_);
  if (type.row == nullptr) return false;
  const float* labels = Labels(targets);
  if (labels == nullptr) return false;
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
  return true;
}

// Losses of sums over all axes, or over all of an example.
bool PlannedLoss::RunOverlap(const float* output, const Targets& targets, const float* factors,
                             float* gradient) {
  const LossType& type = LossTypeOf(loss_);
  if (type.overlap == nullptr) return false;
  const bool whole_batch = options_.axes.empty();
  const auto rank = static_cast<int>(shape_.size()) + 1;
  std::vector<char> summed(static_cast<size_t>(rank), 0);
  for (const int axis : options_.axes)
    summed[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = 1;
  const bool whole_example = !summed[0] && std::count(summed.begin(), summed.end(), 1) == rank - 1;
  const float* labels = whole_batch || whole_example ? Labels(targets) : nullptr;
  if (labels == nullptr) return false;
  constexpr auto kEpsilon = static_cast<float>(kKerasEpsilon);
  const int64_t examples = whole_batch ? batch_ : 1;  // that share a value
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
  return true;
}

bool PlannedLoss::RunByKernels(const float* output, const Targets& targets, const float* factors,
                               float* gradient) {
  const LossType& type = LossTypeOf(loss_);
  if (options_.from_logits || options_.label_smoothing != 0.0) return false;
  if (type.from_logits && !logits_) return false;
  if (type.logit_rows != nullptr) {
    if (shape_.size() != 1 || width_ < 1) return false;
    LogitRows rows = {output, batch_, width_, nullptr, nullptr, losses_.data(), gradient, factors};
    if (targets.classes.defined()) {
      rows.classes = targets.classes.const_data_ptr<int64_t>();
    } else {
      rows.labels = type.class_numbers ? nullptr : Numbers(targets);
      if (rows.labels == nullptr) return false;
    }
    if (gradient == nullptr) {
      rows.gradient = probabilities_.data();
      rows.factors = nullptr;
    }
    type.logit_rows(kernels_, rows);
    return true;
  }
  const float* wanted = type.elements == nullptr ? nullptr : Numbers(targets);
  if (wanted == nullptr) return false;
  // Losses of single outputs in scratch_, their gradients in probabilities_.
  type.elements(kernels_, output, wanted, batch_ * width_, scratch_.data(), probabilities_.data());
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
  return true;
}

void PlannedLoss::RunAutograd(const float* output, const Targets& targets, const float* factors,
                              float* gradient) {
  const c10::InferenceMode no_inference(false);
  const auto view = [&](float* data) {
    return at::from_blob(data, WithBatch(batch_, shape_), at::TensorOptions().dtype(at::kFloat));
  };
  at::Tensor leaf = view(const_cast<float*>(output));
  at::Tensor loss;
  {
    const at::AutoGradMode with_gradient(gradient != nullptr);
    if (gradient != nullptr) leaf.set_requires_grad(true);
    loss = LossPerExample(loss_, leaf, logits_, last_, targets, options_);
    if (gradient != nullptr) {
      loss.backward(at::from_blob(const_cast<float*>(factors), {batch_},
                                  at::TensorOptions().dtype(at::kFloat)));
    }
  }
  const at::NoGradGuard no_grad;
  const at::Tensor dense = loss.detach().contiguous();
  std::memcpy(losses_.data(), dense.const_data_ptr<float>(),
              static_cast<size_t>(batch_) * sizeof(float));
  if (gradient != nullptr) view(gradient).copy_(leaf.grad());
}

}  // namespace hopper
