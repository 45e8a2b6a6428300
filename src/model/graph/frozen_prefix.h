// What a model computes of an example before the first layer that trains or is random: the same in
// every step, so that it can be computed once.
#pragma once

#include <memory>

#include "model/spec.h"

namespace hopper {

// The parts of a model on both sides of one tensor, its features. Both have the whole model's
// layers, tensors and weights, at the same indexes and offsets, and a share of its nodes.
struct FrozenSplit {
  std::shared_ptr<const ModelSpec> prefix;  // null: there is none; it gives the features
  std::shared_ptr<const ModelSpec> head;    // it is given the features
};

// A prefix has a frozen layer with weights, nothing in it trains, and it computes in training what
// it does in inference; and it is worth keeping what it gives. A function of the architecture
// alone: what a model computes depends on it. Equal prefixes of different models have equal hashes.
FrozenSplit SplitFrozen(const ModelSpec& spec);

}  // namespace hopper
