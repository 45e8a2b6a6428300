// Masks of sequences in planned ops.
#pragma once

#include "model/planned/planned_op.h"

namespace hopper {

class PlannedMask {
 public:
  // Of data input `input` of `node`, which it asks for memory.
  PlannedMask(PlanNode* node, size_t input);

  // Everything counts: the other functions are not to be called.
  bool none() const { return steps_ == nullptr; }
  // Reads what the mask is made of, in the forward pass. It is there until the backward one.
  void Make();
  bool Counts(int64_t example, int64_t time) const {
    return flags_->data[example * times_ + time] != 0.0F;
  }

 private:
  // The number of steps of what it wrote.
  int64_t Compare(const MaskStep& step, float* flags) const;
  void Follow(float* first, int64_t first_times, const float* second, int64_t second_times) const;

  const PlanNode& node_;
  const Mask* steps_ = nullptr;
  int64_t times_ = 0;
  int64_t size_ = 0;
  PlanBuffer* flags_ = nullptr;   // 0 or 1, a [batch][time] for each operand that waits
  std::vector<int64_t> lengths_;  // steps of each
};

}  // namespace hopper
