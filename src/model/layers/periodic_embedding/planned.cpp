#include <algorithm>
#include <cmath>

#include "model/layers/periodic_embedding/periodic_embedding.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

constexpr float kFullTurn = static_cast<float>(2.0 * M_PI);

// In parts that the compiler may keep in vectors of any width.
float DotOfParts(const float* a, const float* b, int64_t n) {
  constexpr int kParts = 16;
  float parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] += a[i + j] * b[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) parts[j] += a[i] * b[i];
  float sum = 0.0F;
  for (const float part : parts) sum += part;
  return sum;
}

float SumOfParts(const float* a, int64_t n) {
  constexpr int kParts = 16;
  float parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] += a[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) parts[j] += a[i];
  float sum = 0.0F;
  for (const float part : parts) sum += part;
  return sum;
}

// Everything lies feature by feature, so that loops run along the batch; a team shares the
// features.
class PlannedPeriodicEmbedding : public PlannedOp {
 public:
  PlannedPeriodicEmbedding(PlanNode* node, const PeriodicEmbedding& layer)
      : node_(*node),
        layer_(layer),
        kernels_(*node->kernels),
        features_(node->inputs[0]->shape[0]),
        width_(node->output->shape[0]),
        batch_(node->batch) {
    using During = PlanNode::During;
    const During during = node->backward ? During::kBoth : During::kForward;
    const int64_t k = layer.frequencies;
    inputs_ = node->Scratch({features_, batch_}, during);
    cosines_ = node->Scratch({features_, k, batch_}, during);
    outputs_ = node->Scratch({width_, batch_}, During::kForward);
    if (!node->backward) return;
    sines_ = node->Scratch({features_, k, batch_}, During::kBoth);
    gradients_ = node->Scratch({width_, batch_}, During::kBackward);
    for (size_t w = 0; w < node->weights.size(); ++w) {
      own_[w] = node->Scratch({node->weights[w].size}, During::kBackward);
    }
    if (!node->InputNeedsGradient(0)) return;
    input_gradients_ = node->Scratch({features_, batch_}, During::kBackward);
    input_rows_ = node->Scratch({batch_, features_}, During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    kernels_.transpose(node_.inputs[0]->value->data, batch_, features_, inputs_->data);
    RunShares(node_.team, features_, Work(), [&](int64_t first, int64_t last, int) {
      for (int64_t f = first; f < last; ++f) ForwardOf(f, step);
    });
    kernels_.transpose(outputs_->data, width_, batch_, node_.output->value->data);
  }

  void Backward(const StepArguments& step) override {
    kernels_.transpose(node_.output->gradient->data, batch_, width_, gradients_->data);
    RunShares(node_.team, features_, Work(), [&](int64_t first, int64_t last, int) {
      for (int64_t f = first; f < last; ++f) BackwardOf(f, step);
    });
    for (size_t w = 0; w < node_.weights.size(); ++w) {
      if (!node_.weights[w].trainable) continue;
      node_.DeliverGradient(own_[w]->data, own_[w]->size, w, step);
    }
    if (input_gradients_ == nullptr) return;
    float* dx = node_.inputs[0]->gradient->data;
    if (node_.input_accumulates[0] == 0) {
      kernels_.transpose(input_gradients_->data, features_, batch_, dx);
    } else {
      kernels_.transpose(input_gradients_->data, features_, batch_, input_rows_->data);
      kernels_.add(input_rows_->data, input_rows_->size, dx);
    }
  }

 private:
  double Work() const { return 60.0 * static_cast<double>(cosines_->size); }
  const float* Weight(const StepArguments& step, size_t w) const {
    return step.params + node_.weights[w].offset;
  }

  void ForwardOf(int64_t f, const StepArguments& step) const {
    const int64_t k = layer_.frequencies;
    const int64_t u = layer_.units;
    const float* x = inputs_->data + f * batch_;
    float* cosines = cosines_->data + f * k * batch_;
    float* sines = sines_ == nullptr ? nullptr : sines_->data + f * k * batch_;
    for (int64_t j = 0; j < k; ++j) {
      const float turn = kFullTurn * Weight(step, 0)[f * k + j];
      kernels_.scale(x, turn, Weight(step, 1)[f * k + j], batch_, cosines + j * batch_);
    }
    kernels_.cosine(cosines, k * batch_, cosines, sines);
    for (int64_t i = 0; i < u; ++i) {
      float* y = outputs_->data + (f * u + i) * batch_;
      std::fill_n(y, batch_, Weight(step, 3)[f * u + i]);
      for (int64_t j = 0; j < k; ++j) {
        kernels_.add_scaled(cosines + j * batch_, Weight(step, 2)[(f * k + j) * u + i], batch_, y);
      }
    }
    if (layer_.append_input) {
      std::copy_n(x, batch_, outputs_->data + (features_ * u + f) * batch_);
    }
  }

  void BackwardOf(int64_t f, const StepArguments& step) const {
    const int64_t k = layer_.frequencies;
    const int64_t u = layer_.units;
    const float* x = inputs_->data + f * batch_;
    const float* dy = gradients_->data + f * u * batch_;
    float* dx = input_gradients_ == nullptr ? nullptr : input_gradients_->data + f * batch_;
    if (dx != nullptr && layer_.append_input) {
      std::copy_n(gradients_->data + (features_ * u + f) * batch_, batch_, dx);
    } else if (dx != nullptr) {
      std::fill_n(dx, batch_, 0.0F);
    }
    for (int64_t i = 0; i < u; ++i) own_[3]->data[f * u + i] = SumOfParts(dy + i * batch_, batch_);
    for (int64_t j = 0; j < k; ++j) {
      const int64_t at = f * k + j;
      const float* cosines = cosines_->data + at * batch_;
      // Becomes the gradient of the cosine's argument.
      float* sines = sines_->data + at * batch_;
      const float* kernel = Weight(step, 2) + at * u;
      for (int64_t i = 0; i < u; ++i) {
        own_[2]->data[at * u + i] = DotOfParts(cosines, dy + i * batch_, batch_);
      }
      // The place of the cosines, which are not needed any more.
      float* dc = cosines_->data + at * batch_;
      kernels_.scale(dy, -kernel[0], 0.0F, batch_, dc);
      for (int64_t i = 1; i < u; ++i) {
        kernels_.add_scaled(dy + i * batch_, -kernel[i], batch_, dc);
      }
      kernels_.multiply(dc, batch_, sines);
      own_[0]->data[at] = kFullTurn * DotOfParts(sines, x, batch_);
      own_[1]->data[at] = SumOfParts(sines, batch_);
      if (dx != nullptr) {
        kernels_.add_scaled(sines, kFullTurn * Weight(step, 0)[at], batch_, dx);
      }
    }
  }

  const PlanNode& node_;
  const PeriodicEmbedding& layer_;
  const Kernels& kernels_;
  const int64_t features_;
  const int64_t width_;
  const int64_t batch_;
  PlanBuffer* inputs_ = nullptr;
  PlanBuffer* cosines_ = nullptr;
  PlanBuffer* sines_ = nullptr;
  PlanBuffer* outputs_ = nullptr;
  PlanBuffer* gradients_ = nullptr;
  PlanBuffer* own_[4] = {};  // gradients of the weights
  PlanBuffer* input_gradients_ = nullptr;
  PlanBuffer* input_rows_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const PeriodicEmbedding& layer, PlanNode* node) {
  return std::make_unique<PlannedPeriodicEmbedding>(node, layer);
}

}  // namespace layers
}  // namespace hopper
