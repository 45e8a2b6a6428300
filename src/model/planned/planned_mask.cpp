#include "model/planned/planned_mask.h"

#include "base/product.h"

namespace hopper {

PlannedMask::PlannedMask(PlanNode* node, size_t input)
    : node_(*node), times_(node->inputs[input]->shape[0]), size_(Product({node->batch, times_})) {
  if (node->form == nullptr || !node->form->HasMask(input)) return;
  steps_ = &node->form->masks[input];
  flags_ = node->Scratch({static_cast<int64_t>(steps_->size()), size_}, PlanNode::During::kBoth);
}

void PlannedMask::Compare(const MaskStep& step, float* flags) const {
  const PlanValue& from = *node_.inputs[static_cast<size_t>(step.input)];
  const int64_t width =
      step.kind == MaskStep::Kind::kAnyNotEqual ? from.size / (size_ > 0 ? size_ : 1) : 1;
  const auto none = static_cast<float>(step.value);
  const float* x = from.value->data;
  for (int64_t i = 0; i < size_; ++i, x += width) {
    bool counts = false;
    for (int64_t j = 0; j < width; ++j) counts |= x[j] != none;
    flags[i] = counts ? 1.0F : 0.0F;
  }
}

void PlannedMask::Make() {
  float* top = flags_->data;
  for (const MaskStep& step : *steps_) {
    if (step.kind == MaskStep::Kind::kNotEqual || step.kind == MaskStep::Kind::kAnyNotEqual) {
      Compare(step, top);
      top += size_;
      continue;
    }
    top -= size_;
    float* below = top - size_;
    for (int64_t i = 0; i < size_; ++i) {
      below[i] = step.kind == MaskStep::Kind::kAnd ? below[i] * top[i]
                                                   : (below[i] + top[i] != 0.0F ? 1.0F : 0.0F);
    }
  }
}

}  // namespace hopper
