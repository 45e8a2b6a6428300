#include <algorithm>

#include "base/product.h"
#include "model/layers/layer_normalization/layer_normalization.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

using During = PlanNode::During;

// Gradients of gamma and beta are sums over blocks of so many rows, then over the blocks.
constexpr int64_t kLayerBlock = 256;

class PlannedLayerNorm : public PlannedOp {
 public:
  PlannedLayerNorm(PlanNode* node, const LayerNormalization& layer, int64_t columns)
      : node_(*node),
        kernels_(*node->kernels),
        layer_(layer),
        columns_(columns),
        rows_(columns > 0 ? node->output->size / columns : 0) {
    moments_ = node->Scratch({rows_, 2}, node->backward ? During::kBoth : During::kForward);
    if (!node->backward) return;
    node->keeps_inputs = true;
    sums_ = node->Scratch({2, 2, columns}, During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    kernels_.normalize_rows(Rows(step, 0, rows_), node_.output->value->data);
  }

  void Backward(const StepArguments& step) override {
    const float* dy = node_.output->gradient->data;
    const bool to_input = node_.InputNeedsGradient(0);
    float* all = sums_->data;
    float* block = all + 2 * columns_;
    std::fill_n(all, 2 * columns_, 0.0F);
    for (int64_t row = 0; row < rows_; row += kLayerBlock) {
      const int64_t at = row * columns_;
      kernels_.normalize_rows_gradient(Rows(step, row, std::min(kLayerBlock, rows_ - row)), dy + at,
                                       node_.input_accumulates[0] != 0,
                                       to_input ? node_.inputs[0]->gradient->data + at : nullptr,
                                       block);
      kernels_.add(block, 2 * columns_, all);
    }
    size_t next = 0;
    for (const bool used : {layer_.scale, layer_.center}) {
      if (used && node_.weights[next].trainable) node_.DeliverGradient(all, columns_, next, step);
      if (used) ++next;
      all += columns_;
    }
  }

 private:
  RowNormArgs Rows(const StepArguments& step, int64_t first, int64_t count) const {
    RowNormArgs args;
    args.rows = count;
    args.columns = columns_;
    args.epsilon = static_cast<float>(layer_.epsilon);
    args.x = node_.inputs[0]->value->data + first * columns_;
    size_t next = 0;
    if (layer_.scale) args.gamma = step.params + node_.weights[next++].offset;
    if (layer_.center) args.beta = step.params + node_.weights[next].offset;
    args.moments = moments_->data + 2 * first;
    return args;
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const LayerNormalization& layer_;
  const int64_t columns_;
  const int64_t rows_;
  PlanBuffer* moments_ = nullptr;
  PlanBuffer* sums_ = nullptr;  // gradients of gamma and beta, and a block's
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const LayerNormalization& layer, PlanNode* node) {
  const Shape& shape = node->inputs[0]->shape;
  if (!AxesNormalization::AtTheEnd(layer.AxesOf(shape), shape.size())) return nullptr;
  const int64_t columns = ElementCount(layer.WeightShape(shape));
  return std::make_unique<PlannedLayerNorm>(node, layer, columns);
}

}  // namespace layers
}  // namespace hopper
