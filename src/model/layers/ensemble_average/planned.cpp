#include <algorithm>
#include <cstring>

#include "activation/table.h"
#include "model/layers/ensemble_average/ensemble_average.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedEnsembleAverage : public PlannedOp {
 public:
  PlannedEnsembleAverage(PlanNode* node, const EnsembleAverage& layer)
      : node_(*node),
        kernels_(*node->kernels),
        kind_(layer.activation.kind),
        form_(FormOf(layer.activation)),
        members_(node->inputs[0]->shape[0]),
        width_(node->output->size / node->batch),
        columns_(node->output->shape.back()) {
    using During = PlanNode::During;
    if (kind_ == Activation::kLinear) return;
    activated_ =
        node->Scratch({node->inputs[0]->size}, node->backward ? During::kBoth : During::kForward);
    if (node->backward) spread_ = node->Scratch({node->inputs[0]->size}, During::kBackward);
  }

  void Forward(const StepArguments&) override {
    const int64_t n = node_.inputs[0]->size;
    const float* x = node_.inputs[0]->value->data;
    if (kind_ == Activation::kSoftmax) {
      kernels_.softmax(x, n / columns_, columns_, activated_->data);
    } else if (kind_ != Activation::kLinear) {
      kernels_.activate(form_, x, n, activated_->data, nullptr);
    }
    const float* from = activated_ != nullptr ? activated_->data : x;
    const float share = 1.0F / static_cast<float>(members_);
    float* y = node_.output->value->data;
    for (int64_t i = 0; i < node_.batch; ++i, y += width_, from += members_ * width_) {
      kernels_.column_sums(from, members_, width_, y);
      for (int64_t j = 0; j < width_; ++j) y[j] *= share;
    }
  }

  void Backward(const StepArguments&) override {
    const int64_t n = node_.inputs[0]->size;
    const float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    const bool adds = node_.input_accumulates[0] != 0;
    if (activated_ == nullptr) return Spread(dy, adds, dx);
    Spread(dy, /*adds=*/false, spread_->data);
    if (kind_ == Activation::kSoftmax) {
      kernels_.softmax_gradient(activated_->data, spread_->data, n / columns_, columns_, adds, dx);
      return;
    }
    kernels_.activate_gradient(form_, activated_->data, spread_->data, n, spread_->data);
    if (adds) {
      kernels_.add(spread_->data, n, dx);
    } else {
      std::copy_n(spread_->data, n, dx);
    }
  }

 private:
  // A member's share of the mean's gradient.
  void Spread(const float* dy, bool adds, float* dx) const {
    const float share = 1.0F / static_cast<float>(members_);
    for (int64_t i = 0; i < node_.batch; ++i, dy += width_) {
      for (int64_t m = 0; m < members_; ++m, dx += width_) {
        if (adds) {
          kernels_.add_scaled(dy, share, width_, dx);
        } else {
          kernels_.scale(dy, share, 0.0F, width_, dx);
        }
      }
    }
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const Activation kind_;
  const ActivationForm form_;
  const int64_t members_;
  const int64_t width_;    // of a member's values
  const int64_t columns_;  // of the last axis
  PlanBuffer* activated_ = nullptr;
  PlanBuffer* spread_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const EnsembleAverage& layer, PlanNode* node) {
  return std::make_unique<PlannedEnsembleAverage>(node, layer);
}

}  // namespace layers
}  // namespace hopper
