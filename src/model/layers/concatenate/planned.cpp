#include <cstddef>
#include <cstring>

#include "model/layers/concatenate/concatenate.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

// Along any axis: the outputs are `before` blocks of the inputs' blocks side by side.
class PlannedConcatenate : public PlannedOp {
 public:
  // `axis` counts the example's own axes from 0.
  PlannedConcatenate(PlanNode* node, size_t axis) : node_(*node), axis_(axis) {
    width_ = BlockOf(node->output->shape);
    blocks_ = width_ == 0 ? 0 : node->output->size / width_;
  }

  void Forward(const StepArguments&) override {
    float* y = node_.output->value->data;
    for (const PlanValue* input : node_.inputs) {
      const int64_t n = BlockOf(input->shape);
      for (int64_t r = 0; r < blocks_; ++r) {
        std::memcpy(y + r * width_, input->value->data + r * n,
                    static_cast<size_t>(n) * sizeof(float));
      }
      y += n;
    }
  }
  void Backward(const StepArguments&) override {
    const float* dy = node_.output->gradient->data;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const int64_t n = BlockOf(node_.inputs[i]->shape);
      if (node_.InputNeedsGradient(i)) {
        float* dx = node_.inputs[i]->gradient->data;
        for (int64_t r = 0; r < blocks_; ++r) {
          if (node_.input_accumulates[i]) {
            node_.kernels->add(dy + r * width_, n, dx + r * n);
          } else {
            std::memcpy(dx + r * n, dy + r * width_, static_cast<size_t>(n) * sizeof(float));
          }
        }
      }
      dy += n;
    }
  }

 private:
  // Floats from the axis on.
  int64_t BlockOf(const Shape& shape) const {
    return ElementCount(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis_), shape.end()));
  }

  const PlanNode& node_;
  const size_t axis_;
  int64_t width_ = 0;
  int64_t blocks_ = 0;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Concatenate& layer, PlanNode* node) {
  const auto rank = static_cast<int64_t>(node->output->shape.size()) + 1;  // with the batch
  const int64_t axis = layer.axis < 0 ? layer.axis + rank : layer.axis;
  if (axis < 1) return nullptr;  // not of an example
  return std::make_unique<PlannedConcatenate>(node, static_cast<size_t>(axis - 1));
}

}  // namespace layers
}  // namespace hopper
