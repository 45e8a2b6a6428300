#include "model/planned/planned_mask.h"

#include <algorithm>
#include <cstring>

#include "base/product.h"

namespace hopper {

PlannedMask::PlannedMask(PlanNode* node, size_t input)
    : node_(*node), times_(node->inputs[input]->shape[0]), size_(Product({node->batch, times_})) {
  if (node->form == nullptr || !node->form->HasMask(input)) return;
  steps_ = &node->form->masks[input];
  lengths_.resize(steps_->size());
  // No mask on the way to the last one has more steps than that.
  flags_ = node->Scratch({static_cast<int64_t>(steps_->size()), size_}, PlanNode::During::kBoth);
}

int64_t PlannedMask::Compare(const MaskStep& step, float* flags) const {
  const PlanValue& from = *node_.inputs[static_cast<size_t>(step.input)];
  const int64_t times = from.shape[0];
  const int64_t size = node_.batch * times;
  if (step.kind == MaskStep::Kind::kEvery) {
    std::fill_n(flags, size, 1.0F);
    return times;
  }
  const int64_t width =
      step.kind == MaskStep::Kind::kAnyNotEqual ? from.size / (size > 0 ? size : 1) : 1;
  const auto none = static_cast<float>(step.value);
  const float* x = from.value->data;
  for (int64_t i = 0; i < size; ++i, x += width) {
    bool counts = false;
    for (int64_t j = 0; j < width; ++j) counts |= x[j] != none;
    flags[i] = counts ? 1.0F : 0.0F;
  }
  return times;
}

// Rows grow to the right: from the last one on none is overwritten before it has moved.
void PlannedMask::Follow(float* first, int64_t first_times, const float* second,
                         int64_t second_times) const {
  const int64_t times = first_times + second_times;
  for (int64_t b = node_.batch; b-- > 0;) {
    std::memmove(first + b * times, first + b * first_times,
                 static_cast<size_t>(first_times) * sizeof(float));
    std::memcpy(first + b * times + first_times, second + b * second_times,
                static_cast<size_t>(second_times) * sizeof(float));
  }
}

void PlannedMask::Make() {
  size_t waiting = 0;  // masks, one behind the other in slots of one size
  const auto slot = [&](size_t i) { return flags_->data + static_cast<int64_t>(i) * size_; };
  for (const MaskStep& step : *steps_) {
    if (!step.OfTwo()) {
      lengths_[waiting] = Compare(step, slot(waiting));
      ++waiting;
      continue;
    }
    --waiting;
    float* below = slot(waiting - 1);
    const float* top = slot(waiting);
    if (step.kind == MaskStep::Kind::kFollow) {
      Follow(below, lengths_[waiting - 1], top, lengths_[waiting]);
      lengths_[waiting - 1] += lengths_[waiting];
      continue;
    }
    const int64_t size = node_.batch * lengths_[waiting];
    for (int64_t i = 0; i < size; ++i) {
      below[i] = step.kind == MaskStep::Kind::kAnd ? below[i] * top[i]
                                                   : (below[i] + top[i] != 0.0F ? 1.0F : 0.0F);
    }
  }
}

}  // namespace hopper
