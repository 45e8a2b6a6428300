#include <cstring>

#include "model/layers/global_pooling_2d/global_pooling_2d.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedGlobalAverage : public PiecewiseOp {
 public:
  explicit PlannedGlobalAverage(PlanNode* node)
      : PiecewiseOp(node->batch),
        node_(*node),
        channels_(node->output->shape.back()),
        pixels_(ElementCount(node->inputs[0]->shape) / channels_),
        share_(1.0F / static_cast<float>(pixels_)),
        row_(node->Scratch({channels_}, PlanNode::During::kBackward)) {}

  void ForwardPiece(const StepArguments&, int64_t first, int64_t last) override {
    const float* x = node_.inputs[0]->value->data + first * pixels_ * channels_;
    float* y = node_.output->value->data + first * channels_;
    for (int64_t n = first; n < last; ++n, x += pixels_ * channels_, y += channels_) {
      node_.kernels->column_sums(x, pixels_, channels_, y);
      node_.kernels->scale(y, share_, 0.0F, channels_, y);
    }
  }
  void BackwardPiece(const StepArguments&, int64_t first, int64_t last) override {
    const float* dy = node_.output->gradient->data + first * channels_;
    float* dx = node_.inputs[0]->gradient->data + first * pixels_ * channels_;
    for (int64_t n = first; n < last; ++n, dy += channels_) {
      node_.kernels->scale(dy, share_, 0.0F, channels_, row_->data);
      for (int64_t i = 0; i < pixels_; ++i, dx += channels_) {
        if (node_.input_accumulates[0]) {
          node_.kernels->add(row_->data, channels_, dx);
        } else {
          std::memcpy(dx, row_->data, static_cast<size_t>(channels_) * sizeof(float));
        }
      }
    }
  }

 private:
  const PlanNode& node_;
  const int64_t channels_;
  const int64_t pixels_;
  const float share_;
  PlanBuffer* row_;
};

// Equal maxima share the gradient, as they do in TensorFlow. NaN is the largest of all.
class PlannedGlobalMax : public PlannedOp {
 public:
  explicit PlannedGlobalMax(PlanNode* node)
      : node_(*node),
        channels_(node->output->shape.back()),
        pixels_(ElementCount(node->inputs[0]->shape) / channels_),
        shares_(node->Scratch({channels_}, PlanNode::During::kBackward)) {
    node->keeps_inputs = true;
    node->keeps_output = true;
  }

  void Forward(const StepArguments&) override {
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    for (int64_t n = 0; n < node_.batch; ++n, y += channels_) {
      std::memcpy(y, x, static_cast<size_t>(channels_) * sizeof(float));
      x += channels_;
      for (int64_t i = 1; i < pixels_; ++i, x += channels_) {
        for (int64_t c = 0; c < channels_; ++c) y[c] = x[c] <= y[c] || y[c] != y[c] ? y[c] : x[c];
      }
    }
  }
  void Backward(const StepArguments&) override {
    const float* x = node_.inputs[0]->value->data;
    const float* y = node_.output->value->data;
    const float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    const bool accumulate = node_.input_accumulates[0] != 0;
    float* share = shares_->data;
    for (int64_t n = 0; n < node_.batch; ++n, y += channels_, dy += channels_) {
      std::memset(share, 0, static_cast<size_t>(channels_) * sizeof(float));
      for (int64_t i = 0; i < pixels_; ++i) {
        const float* pixel = x + i * channels_;
        for (int64_t c = 0; c < channels_; ++c) share[c] += pixel[c] == y[c] ? 1.0F : 0.0F;
      }
      for (int64_t c = 0; c < channels_; ++c) share[c] = dy[c] / share[c];
      for (int64_t i = 0; i < pixels_; ++i, x += channels_, dx += channels_) {
        for (int64_t c = 0; c < channels_; ++c) {
          const float d = x[c] == y[c] ? share[c] : 0.0F;
          dx[c] = accumulate ? dx[c] + d : d;
        }
      }
    }
  }

 private:
  const PlanNode& node_;
  const int64_t channels_;
  const int64_t pixels_;
  PlanBuffer* shares_;  // what each maximum of a channel gets
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const GlobalPooling2D& layer, PlanNode* node) {
  if (layer.maximum) return std::make_unique<PlannedGlobalMax>(node);
  return std::make_unique<PlannedGlobalAverage>(node);
}

}  // namespace layers
}  // namespace hopper
