#include <algorithm>

#include "base/philox.h"
#include "model/layers/dropout/dropout.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedDropout : public PlannedOp {
 public:
  PlannedDropout(PlanNode* node, double rate)
      : node_(*node),
        size_(node->output->size),
        rate_(rate),
        mask_(node->Scratch({(size_ + 3) / 4}, PlanNode::During::kBoth)) {}

  void Forward(const StepArguments& step) override {
    const Philox philox(node_.seed, Purpose::kDropout, node_.stream,
                        static_cast<uint64_t>(step.step));
    const double rate = rate_ * step.dropout_factor;
    const uint32_t dropped = DroppedValues(rate);
    scale_ = KeptScale(rate);
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    uint32_t bits[kDropoutChunk];
    for (int64_t first = 0; first < size_; first += kDropoutChunk) {
      const int64_t n = std::min(kDropoutChunk, size_ - first);
      philox.Fill(static_cast<uint64_t>(first), static_cast<uint64_t>(n), bits);
      node_.kernels->dropout(x + first, bits, dropped, scale_, n, y + first, mask() + first);
    }
  }

  void Backward(const StepArguments&) override {
    node_.kernels->dropout_gradient(node_.output->gradient->data, mask(), scale_, size_,
                                    node_.input_accumulates[0] != 0,
                                    node_.inputs[0]->gradient->data);
  }

 private:
  uint8_t* mask() { return reinterpret_cast<uint8_t*>(mask_->data); }

  const PlanNode& node_;
  const int64_t size_;
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
