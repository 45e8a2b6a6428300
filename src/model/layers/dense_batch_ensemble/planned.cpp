#include <algorithm>
#include <cstring>

#include "model/layers/dense_batch_ensemble/dense_batch_ensemble.h"
#include "model/planned/planned_activation.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace layers {
namespace {

// One product for the rows of all members; scales and biases are rows of members * inputs or
// members * units for each example. In float32 whatever the precision.
class PlannedDenseBatchEnsemble : public PlannedOp {
 public:
  PlannedDenseBatchEnsemble(PlanNode* node, const DenseBatchEnsemble& layer)
      : node_(*node),
        layer_(layer),
        kernels_(*node->kernels),
        activation_(node, layer.activation),
        shared_(node->inputs[0]->shape.size() == 1),
        batch_(node->batch),
        length_(node->inputs[0]->shape.back()),
        inputs_(layer.members * length_),
        outputs_(layer.members * layer.units) {
    using During = PlanNode::During;
    const During during = node->backward ? During::kBoth : During::kForward;
    const bool trains_kernel = node->weights[0].trainable;
    const bool trains_alpha = layer.use_alpha && node->weights[layer.alpha()].trainable;
    const bool trains_gamma = layer.use_gamma && node->weights[layer.gamma()].trainable;
    node->keeps_inputs = trains_kernel || trains_alpha;
    node->keeps_output = activation_.keeps_output();
    if (layer.use_alpha || shared_) scaled_ = node->Scratch({batch_, inputs_}, during);
    factors_ = node->Scratch({outputs_}, During::kForward);
    offsets_ = node->Scratch({outputs_}, During::kForward);
    if (!node->backward) return;
    if (trains_gamma) products_ = node->Scratch({batch_, outputs_}, During::kBoth);
    zeros_ = node->Scratch({std::max(inputs_, outputs_)}, During::kBackward);
    for (size_t w = 0; w < node->weights.size(); ++w) {
      if (node->weights[w].trainable) {
        own_[w] = node->Scratch({node->weights[w].size}, During::kBackward);
      }
    }
    if (trains_alpha || node->InputNeedsGradient(0)) {
      scaled_gradient_ = node->Scratch({batch_, inputs_}, During::kBackward);
    }
  }

  void Forward(const StepArguments& step) override {
    const float* x = node_.inputs[0]->value->data;
    if (scaled_ != nullptr) {
      Scale(x, layer_.use_alpha ? Weight(step, layer_.alpha()) : nullptr);
      x = scaled_->data;
    }
    float* y = node_.output->value->data;
    float* products = products_ != nullptr ? products_->data : y;
    PlannedProduct(kernels_, node_.team, batch_ * layer_.members, layer_.units, length_, x,
                   Weight(step, 0), nullptr, false, products);
    const float* factors = factors_->data;
    if (layer_.use_gamma) {
      factors = Weight(step, layer_.gamma());
    } else {
      std::fill_n(factors_->data, outputs_, 1.0F);
    }
    const float* offsets = offsets_->data;
    if (layer_.use_bias && layer_.ensemble_bias) {
      offsets = Weight(step, layer_.bias());
    } else {
      FillOffsets(step);
    }
    RunShares(node_.team, batch_, 2.0 * static_cast<double>(node_.output->size),
              [&](int64_t first, int64_t last, int) {
                NormArgs args;
                args.rows = last - first;
                args.columns = outputs_;
                args.x = products + first * outputs_;
                args.factor = factors;
                args.offset = offsets;
                kernels_.norm(args, y + first * outputs_);
              });
    if (!activation_.none()) activation_.Forward(y, y);
  }

  void Backward(const StepArguments& step) override {
    float* dy = node_.output->gradient->data;
    if (!activation_.none()) activation_.Backward(node_.output->value->data, dy, dy);
    std::fill_n(zeros_->data, zeros_->size, 0.0F);
    if (layer_.use_bias && own_[layer_.bias()] != nullptr) {
      const bool each = layer_.ensemble_bias;
      kernels_.column_sums(dy, each ? batch_ : batch_ * layer_.members,
                           each ? outputs_ : layer_.units, own_[layer_.bias()]->data);
      Deliver(layer_.bias(), step);
    }
    if (layer_.use_gamma) {
      if (products_ != nullptr) {
        kernels_.column_products(products_->data, zeros_->data, dy, nullptr, batch_, outputs_,
                                 own_[layer_.gamma()]->data);
        Deliver(layer_.gamma(), step);
      }
      const float* gamma = Weight(step, layer_.gamma());
      EachExample(outputs_,
                  [&](int64_t i) { kernels_.multiply(gamma, outputs_, dy + i * outputs_); });
    }
    const float* x = node_.inputs[0]->value->data;
    if (own_[0] != nullptr) {
      PlannedWeightGradient(kernels_, node_.team, batch_ * layer_.members, layer_.units, length_,
                            scaled_ != nullptr ? scaled_->data : x, dy, /*accumulate=*/false,
                            own_[0]->data);
      Deliver(0, step);
    }
    if (scaled_gradient_ == nullptr) return;
    float* gradient = scaled_gradient_->data;
    PlannedInputGradient(kernels_, node_.team, batch_ * layer_.members, layer_.units, length_, dy,
                         Weight(step, 0), /*accumulate=*/false, gradient);
    if (layer_.use_alpha && own_[layer_.alpha()] != nullptr) {
      AlphaGradient(x, gradient, own_[layer_.alpha()]->data);
      Deliver(layer_.alpha(), step);
    }
    if (node_.InputNeedsGradient(0)) InputGradient(step, gradient);
  }

 private:
  const float* Weight(const StepArguments& step, size_t w) const {
    return step.params + node_.weights[w].offset;
  }
  void Deliver(size_t w, const StepArguments& step) const {
    node_.DeliverGradient(own_[w]->data, own_[w]->size, w, step);
  }
  template <typename Body>
  void EachExample(int64_t values, const Body& body) const {
    RunShares(node_.team, batch_, static_cast<double>(batch_ * values),
              [&](int64_t first, int64_t last, int) {
                for (int64_t i = first; i < last; ++i) body(i);
              });
  }

  // The inputs of all members, times alpha unless that is null.
  void Scale(const float* x, const float* alpha) const {
    EachExample(inputs_, [&](int64_t i) {
      float* to = scaled_->data + i * inputs_;
      if (!shared_) {
        std::copy_n(x + i * inputs_, inputs_, to);
      } else {
        for (int64_t m = 0; m < layer_.members; ++m) {
          std::copy_n(x + i * length_, length_, to + m * length_);
        }
      }
      if (alpha != nullptr) kernels_.multiply(alpha, inputs_, to);
    });
  }

  void FillOffsets(const StepArguments& step) const {
    if (!layer_.use_bias) {
      std::fill_n(offsets_->data, outputs_, 0.0F);
      return;
    }
    for (int64_t m = 0; m < layer_.members; ++m) {
      std::copy_n(Weight(step, layer_.bias()), layer_.units, offsets_->data + m * layer_.units);
    }
  }

  // Sums over the examples of input times gradient.
  void AlphaGradient(const float* x, const float* gradient, float* sums) const {
    if (!shared_) {
      kernels_.column_products(x, zeros_->data, gradient, nullptr, batch_, inputs_, sums);
      return;
    }
    std::fill_n(sums, inputs_, 0.0F);
    for (int64_t i = 0; i < batch_; ++i) {
      for (int64_t m = 0; m < layer_.members; ++m) {
        const float* d = gradient + i * inputs_ + m * length_;
        for (int64_t j = 0; j < length_; ++j) sums[m * length_ + j] += d[j] * x[i * length_ + j];
      }
    }
  }

  void InputGradient(const StepArguments& step, float* gradient) const {
    float* dx = node_.inputs[0]->gradient->data;
    const int64_t values = node_.inputs[0]->size / batch_;
    const bool adds = node_.input_accumulates[0] != 0;
    EachExample(inputs_, [&](int64_t i) {
      float* own = gradient + i * inputs_;
      if (layer_.use_alpha) kernels_.multiply(Weight(step, layer_.alpha()), inputs_, own);
      for (int64_t first = 0; first < inputs_; first += values) {
        if (adds || first > 0) {
          kernels_.add(own + first, values, dx + i * values);
        } else {
          std::copy_n(own, values, dx + i * values);
        }
      }
    });
  }

  const PlanNode& node_;
  const DenseBatchEnsemble& layer_;
  const Kernels& kernels_;
  const PlannedActivation activation_;
  const bool shared_;  // all members have one input
  const int64_t batch_;
  const int64_t length_;
  const int64_t inputs_;   // of all members
  const int64_t outputs_;  // of all members
  PlanBuffer* scaled_ = nullptr;
  PlanBuffer* products_ = nullptr;  // before gamma; null: they lie where the output does
  PlanBuffer* factors_ = nullptr;
  PlanBuffer* offsets_ = nullptr;
  PlanBuffer* zeros_ = nullptr;
  PlanBuffer* own_[4] = {};  // gradients of the weights
  PlanBuffer* scaled_gradient_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const DenseBatchEnsemble& layer, PlanNode* node) {
  const bool applies = AppliesActivation(layer.activation, *node);
  if (!PlannedActivation::Supports(layer.activation, applies, node->output->shape)) return nullptr;
  return std::make_unique<PlannedDenseBatchEnsemble>(node, layer);
}

}  // namespace layers
}  // namespace hopper
