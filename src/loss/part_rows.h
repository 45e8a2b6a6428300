// Outputs of which not all steps count: their rows of the last axis, one for each step or pixel, as
// if each were an example.
#pragma once

#include <cstdint>
#include <vector>

#include "loss/objective.h"

namespace hopper {

// Whether steps count: [batch, part.mask_size], 0 for those that do not, rows `stride` floats
// apart.
struct StepMask {
  const float* first = nullptr;  // null: the part has no mask
  int64_t stride = 0;
};

// [batch * rows] of a batch, one example's behind the other's.
class PartRows {
 public:
  // `targets` are the part's and outlive this. `ignores`: options.ignore_class, too, says which
  // rows count.
  PartRows(const ObjectivePart& part, int64_t batch, const Targets& targets, const StepMask& mask,
           bool ignores);

  // Of each row; of one that does not count, a class is 0.
  const Targets& targets() const { return targets_; }
  bool counts(int64_t row) const { return counts_[static_cast<size_t>(row)] != 0; }
  int64_t size() const { return static_cast<int64_t>(counts_.size()); }
  // n examples / the number of rows that count; 0 where none does. A mean over the examples of
  // their rows' sums, times it, is the mean over these rows: keras.src.losses.loss.apply_mask().
  float share() const;

 private:
  const int64_t batch_;
  Targets targets_;
  std::vector<int64_t> classes_;
  std::vector<char> counts_;
};

}  // namespace hopper
