#include <algorithm>

#include "model/layers/take/take.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

// Places of an axis are blocks of floats, in `before` rows of them.
class PlannedTake : public PlannedOp {
 public:
  PlannedTake(PlanNode* node, Take::Taken taken) : node_(*node), runs_(std::move(taken.runs)) {
    const Shape& shape = node->inputs[0]->shape;
    for (size_t i = static_cast<size_t>(taken.axis); i < shape.size(); ++i) block_ *= shape[i];
    width_ = shape[static_cast<size_t>(taken.axis - 1)] * block_;
    before_ = width_ == 0 ? 0 : node->inputs[0]->size / width_;
  }

  void Forward(const StepArguments&) override {
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    for (int64_t r = 0; r < before_; ++r, x += width_) {
      for (const Take::Run& run : runs_) {
        y = std::copy_n(x + run.first * block_, run.count * block_, y);
      }
    }
  }

  void Backward(const StepArguments&) override {
    PlanValue& input = *node_.inputs[0];
    if (input.gradient == nullptr) return;
    float* dx = input.gradient->data;
    const float* dy = node_.output->gradient->data;
    if (node_.input_accumulates[0] == 0) std::fill_n(dx, input.size, 0.0F);
    for (int64_t r = 0; r < before_; ++r, dx += width_) {
      for (const Take::Run& run : runs_) {
        node_.kernels->add(dy, run.count * block_, dx + run.first * block_);
        dy += run.count * block_;
      }
    }
  }

 private:
  const PlanNode& node_;
  const std::vector<Take::Run> runs_;
  int64_t block_ = 1;
  int64_t width_ = 0;
  int64_t before_ = 0;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Take& layer, PlanNode* node) {
  return std::make_unique<PlannedTake>(node, layer.Of(node->inputs[0]->shape));
}

}  // namespace layers
}  // namespace hopper
