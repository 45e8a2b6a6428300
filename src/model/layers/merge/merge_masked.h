// Multiply, Maximum and Minimum of masked series as Keras 3 computes them, for libtorch's tensors
// and for those of exports.
#pragma once

#include <cstddef>
#include <vector>

#include "model/layers/merge/merge.h"

namespace hopper {
namespace layers {

// `tensors` have as many axes as each other; `masks` are bool, [batch, steps, 1, ...] with as many,
// and not defined where all steps count. A step that does not count in one tensor leaves the others
// as they are. `merge` makes one tensor of two. Formulas: keras.layers.Multiply._merge_function(),
// and Merge._apply_merge_op_and_or_mask() of the others, Keras 3.15.
template <typename T, typename MergeTwo>
T MergeMasked(Merge::Kind kind, const std::vector<T>& tensors, const std::vector<T>& masks,
              const MergeTwo& merge) {
  const bool multiplies = kind == Merge::Kind::kMultiply;
  const auto replaced = [&](size_t i) {
    return masks[i].defined() ? where(masks[i], tensors[i], 1.0) : tensors[i];
  };
  T merged = multiplies ? replaced(0) : tensors[0];
  T counts = masks[0];
  for (size_t i = 1; i < tensors.size(); ++i) {
    T next = multiplies ? replaced(i) : tensors[i];
    if (!multiplies && masks[i].defined()) next = where(masks[i], next, merged);
    if (!multiplies && counts.defined()) merged = where(counts, merged, next);
    counts = counts.defined() && masks[i].defined() ? logical_or(counts, masks[i]) : T();
    merged = merge(merged, next);
  }
  return multiplies && counts.defined() ? where(counts, merged, 0.0) : merged;
}

}  // namespace layers
}  // namespace hopper
