#include <algorithm>

#include "base/philox.h"
#include "model/layers/dropout/dropout.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedDropout : public PiecewiseOp {
 public:
  PlannedDropout(PlanNode* node, double rate)
      : PiecewiseOp(node->batch),
        node_(*node),
        example_(node->output->size / node->batch),
        rate_(rate),
        mask_(node->Scratch({(node->output->size + 3) / 4}, PlanNode::During::kBoth)) {}

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    const Philox philox(node_.seed, Purpose::kDropout, node_.stream,
                        static_cast<uint64_t>(step.step));
    const double rate = rate_ * step.dropout_factor;
    const uint32_t dropped = DroppedValues(rate);
    scale_ = KeptScale(rate);
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    constexpr int64_t kStep = 4;  // Fill() begins at multiples of it
    uint32_t bits[kDropoutChunk + kStep];
    for (int64_t first = begin * example_; first < end * example_; first += kDropoutChunk) {
      const int64_t n = std::min(kDropoutChunk, end * example_ - first);
      const int64_t before = first % kStep;
      philox.Fill(static_cast<uint64_t>(first - before), static_cast<uint64_t>(n + before), bits);
      node_.kernels->dropout(x + first, bits + before, dropped, scale_, n, y + first,
                             mask() + first);
    }
  }

  void BackwardPiece(const StepArguments&, int64_t begin, int64_t end) override {
    const int64_t at = begin * example_;
    node_.kernels->dropout_gradient(node_.output->gradient->data + at, mask() + at, scale_,
                                    (end - begin) * example_, node_.input_accumulates[0] != 0,
                                    node_.inputs[0]->gradient->data + at);
  }

 private:
  uint8_t* mask() { return reinterpret_cast<uint8_t*>(mask_->data); }

  const PlanNode& node_;
  const int64_t example_;  // floats
  const double rate_;
  float scale_ = 1.0F;  // of what is kept in this step
  PlanBuffer* mask_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const DropoutLayer& layer, PlanNode* node) {
  node->alias = !node->training || layer.rate == 0.0;
  if (node->alias || !layer.Noise().empty()) return nullptr;
  return std::make_unique<PlannedDropout>(node, layer.rate);
}

}  // namespace layers
}  // namespace hopper
