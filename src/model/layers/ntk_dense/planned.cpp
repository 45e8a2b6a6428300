#include <cmath>

#include "model/layers/ntk_dense/ntk_dense.h"
#include "model/planned/planned_activation.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace layers {
namespace {

// The products are those of a plain kernel, which is the layer's times the gain; in float32
// whatever the precision.
class PlannedNTKDense : public PlannedOp {
 public:
  PlannedNTKDense(PlanNode* node, const NTKDense& layer)
      : node_(*node),
        layer_(layer),
        kernels_(*node->kernels),
        activation_(node, layer.activation),
        length_(node->inputs[0]->shape.back()),
        columns_(node->output->shape.back()),
        rows_(node->output->size / columns_),
        gain_(NTKDense::Gain(length_)) {
    node->keeps_inputs = node->weights[0].trainable;
    node->keeps_output = activation_.keeps_output();
    const auto during = node->backward ? PlanNode::During::kBoth : PlanNode::During::kForward;
    kernel_ = node->Scratch({length_, columns_}, during);
    if (!node->backward) return;
    if (node->weights[0].trainable) {
      gradient_ = node->Scratch({length_, columns_}, PlanNode::During::kBackward);
    }
    if (layer.use_bias && node->weights[1].trainable) {
      sums_ = node->Scratch({columns_}, PlanNode::During::kBackward);
    }
  }

  void Forward(const StepArguments& step) override {
    float* kernel = step.params + node_.weights[0].offset;
    float* y = node_.output->value->data;
    if (node_.training && layer_.trainable() && layer_.initializes()) Initialize(step, kernel, y);
    kernels_.scale(kernel, gain_, 0.0F, node_.weights[0].size, kernel_->data);
    PlannedProduct(kernels_, node_.team, rows_, columns_, length_, node_.inputs[0]->value->data,
                   kernel_->data, layer_.use_bias ? step.params + node_.weights[1].offset : nullptr,
                   activation_.relu(), y);
    if (!activation_.none() && !activation_.relu()) activation_.Forward(y, y);
  }

  void Backward(const StepArguments& step) override {
    float* dy = node_.output->gradient->data;
    if (!activation_.none()) activation_.Backward(node_.output->value->data, dy, dy);
    if (sums_ != nullptr) {
      kernels_.column_sums(dy, rows_, columns_, sums_->data);
      node_.DeliverGradient(sums_->data, columns_, 1, step);
    }
    if (gradient_ != nullptr) {
      PlannedWeightGradient(kernels_, node_.team, rows_, columns_, length_,
                            node_.inputs[0]->value->data, dy, /*accumulate=*/false,
                            gradient_->data);
      kernels_.scale(gradient_->data, gain_, 0.0F, gradient_->size, gradient_->data);
      node_.DeliverGradient(gradient_->data, gradient_->size, 0, step);
    }
    if (node_.InputNeedsGradient(0)) {
      PlannedInputGradient(kernels_, node_.team, rows_, columns_, length_, dy, kernel_->data,
                           node_.input_accumulates[0] != 0, node_.inputs[0]->gradient->data);
    }
  }

 private:
  // What the operator of torch.cpp does. `y`: room for the products.
  void Initialize(const StepArguments& step, float* kernel, float* y) const {
    float* flag = step.params + node_.weights[layer_.flag()].offset;
    if (*flag != 0.0F) return;
    kernels_.scale(kernel, gain_, 0.0F, node_.weights[0].size, kernel_->data);
    PlannedProduct(kernels_, node_.team, rows_, columns_, length_, node_.inputs[0]->value->data,
                   kernel_->data, nullptr, false, y);
    std::vector<float> deviations(static_cast<size_t>(columns_), 1.0F);
    const auto n = static_cast<double>(rows_);
    for (int64_t j = 0; layer_.std_kernel && j < columns_; ++j) {
      double mean = 0.0, squares = 0.0;
      for (int64_t i = 0; i < rows_; ++i) mean += static_cast<double>(y[i * columns_ + j]) / n;
      for (int64_t i = 0; i < rows_; ++i) {
        const double difference = static_cast<double>(y[i * columns_ + j]) - mean;
        squares += difference * difference;
      }
      const auto deviation = static_cast<float>(std::sqrt(squares / n));
      if (deviation > 0.0F) deviations[static_cast<size_t>(j)] = deviation;
      for (int64_t i = 0; i < length_; ++i) {
        kernel[i * columns_ + j] /= deviations[static_cast<size_t>(j)];
      }
    }
    if (layer_.he_bias) {
      float* bias = step.params + node_.weights[1].offset;
      const RandomMeans means = DrawMeans(node_.stream, rows_, columns_);
      for (size_t j = 0; j < static_cast<size_t>(columns_); ++j) {
        double mean = 0.0;
        for (size_t i = j * RandomMeans::kRows; i < (j + 1) * RandomMeans::kRows; ++i) {
          const float value = y[means.rows[i] * columns_ + static_cast<int64_t>(j)];
          mean += means.shares[i] * static_cast<double>(value / deviations[j]);
        }
        bias[j] = static_cast<float>(-mean);
      }
    }
    *flag = 1.0F;
  }

  const PlanNode& node_;
  const NTKDense& layer_;
  const Kernels& kernels_;
  const PlannedActivation activation_;
  const int64_t length_;
  const int64_t columns_;
  const int64_t rows_;
  const float gain_;
  PlanBuffer* kernel_ = nullptr;
  PlanBuffer* gradient_ = nullptr;
  PlanBuffer* sums_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const NTKDense& layer, PlanNode* node) {
  const bool applies = AppliesActivation(layer.activation, *node);
  if (!PlannedActivation::Supports(layer.activation, applies, node->output->shape)) return nullptr;
  return std::make_unique<PlannedNTKDense>(node, layer);
}

}  // namespace layers
}  // namespace hopper
