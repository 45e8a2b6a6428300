#include "loss/planned_loss.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace hopper {
namespace {

std::vector<int64_t> SizesOf(int64_t batch, const Shape& shape) {
  std::vector<int64_t> sizes{batch};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return sizes;
}

int64_t CheckedClass(int64_t value, int64_t width) {
  if (value < 0 || value >= width) {
    throw Error(ErrorCode::kDataException, "class " + std::to_string(value) +
                                               " does not exist in an output of " +
                                               std::to_string(width) + " classes");
  }
  return value;
}

}  // namespace

PlannedLoss::PlannedLoss(LossKind loss, const LossOptions& options, bool logits, Activation last,
                         int64_t batch, const Shape& shape, const Kernels& kernels)
    : loss_(loss),
      options_(options),
      logits_(logits),
      last_(last),
      batch_(batch),
      width_(ElementCount(shape)),
      shape_(shape),
      kernels_(kernels),
      losses_(static_cast<size_t>(batch)),
      probabilities_(static_cast<size_t>(batch * width_)),
      scratch_(static_cast<size_t>(batch * width_)),
      numbers_(static_cast<size_t>(width_ == 1 ? batch : 0)) {}

void PlannedLoss::Run(const float* output, const Targets& targets, const float* factors,
                      float* gradient) {
  if (!RunPlanned(output, targets, factors, gradient)) {
    RunAutograd(output, targets, factors, gradient);
  }
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

bool PlannedLoss::RunPlanned(const float* output, const Targets& targets, const float* factors,
                             float* gradient) {
  if (options_.from_logits || options_.label_smoothing != 0.0) return false;
  switch (loss_) {
    case LossKind::kCategoricalCrossentropy:
    case LossKind::kSparseCategoricalCrossentropy: {
      const bool categorical = loss_ == LossKind::kCategoricalCrossentropy;
      if (!logits_ || shape_.size() != 1 || width_ < 1) return false;
      if (!targets.classes.defined() && (!categorical || Numbers(targets) == nullptr)) return false;
      Crossentropy(output, targets, factors, gradient);
      return true;
    }
    case LossKind::kBinaryCrossentropy: {
      const float* wanted = Numbers(targets);
      if (!logits_ || wanted == nullptr) return false;
      kernels_.sigmoid_loss(output, wanted, batch_ * width_, scratch_.data(),
                            probabilities_.data());
      break;
    }
    case LossKind::kMeanSquaredError:
    case LossKind::kMeanAbsoluteError: {
      const float* wanted = Numbers(targets);
      if (wanted == nullptr) return false;
      kernels_.difference_loss(loss_ == LossKind::kMeanSquaredError, output, wanted,
                               batch_ * width_, scratch_.data(), probabilities_.data());
      break;
    }
    default:
      return false;
  }
  // Losses of single outputs in scratch_, their slopes in probabilities_.
  const float share = 1.0F / static_cast<float>(width_);
  for (int64_t i = 0; i < batch_; ++i) {
    const float* row = scratch_.data() + i * width_;
    float sum = 0.0F;
    for (int64_t j = 0; j < width_; ++j) sum += row[j];
    losses_[i] = width_ == 1 ? sum : sum * share;
    if (gradient == nullptr) continue;
    const float factor = width_ == 1 ? factors[i] : factors[i] * share;
    const float* slope = probabilities_.data() + i * width_;
    for (int64_t j = 0; j < width_; ++j) gradient[i * width_ + j] = slope[j] * factor;
  }
  return true;
}

// Rows of logits, with a class or a row of labels each. The gradient is softmax - labels as
// TensorFlow has it, also for labels that do not add up to one.
void PlannedLoss::Crossentropy(const float* output, const Targets& targets, const float* factors,
                               float* gradient) {
  float* p = gradient == nullptr ? probabilities_.data() : gradient;
  float* log_sums = losses_.data();
  kernels_.softmax_log_sum(output, batch_, width_, p, log_sums);
  const int64_t* classes =
      targets.classes.defined() ? targets.classes.const_data_ptr<int64_t>() : nullptr;
  const float* labels = classes == nullptr ? Numbers(targets) : nullptr;
  for (int64_t i = 0; i < batch_; ++i) {
    const float* x = output + i * width_;
    const float log_sum = log_sums[i];
    float* row = p + i * width_;
    if (classes != nullptr) {
      const int64_t index = CheckedClass(classes[i], width_);
      losses_[i] = log_sum - x[index];
      row[index] -= 1.0F;
    } else {
      float sum = 0.0F;
      for (int64_t j = 0; j < width_; ++j) {
        sum += labels[i * width_ + j] * (log_sum - x[j]);
        row[j] -= labels[i * width_ + j];
      }
      losses_[i] = sum;
    }
    if (gradient == nullptr) continue;
    for (int64_t j = 0; j < width_; ++j) row[j] *= factors[i];
  }
}

void PlannedLoss::RunAutograd(const float* output, const Targets& targets, const float* factors,
                              float* gradient) {
  const c10::InferenceMode no_inference(false);
  const auto view = [&](float* data) {
    return at::from_blob(data, SizesOf(batch_, shape_), at::TensorOptions().dtype(at::kFloat));
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
