// A layer that computes: its forward pass on libtorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/layer.h"

namespace hopper {

class LaneRandom;
class LaneValue;
struct LaneContext;

// What a forward pass needs beside its tensors.
struct ForwardContext {
  bool training = false;
  uint64_t seed = 0;            // dropout: Philox(seed, kDropout, layer, step)
  int64_t step = 0;             // optimizer steps taken before this one
  double dropout_factor = 1.0;  // of all dropout rates, by a schedule
  uint32_t layer = 0;           // index of the layer that runs
  // Leave out the final activation: the loss wants logits. A layer's; of a network, bit i is
  // output i's.
  uint64_t linear = 0;
  const CallForm* form = nullptr;  // null: all inputs are data, without masks
  // Gets what layers add to the sum of the examples' losses: float64, one number or one a lane.
  std::vector<at::Tensor>* penalties = nullptr;
  // Of one lane among several, whose random numbers come from here; lane -1: of all of them, which
  // are the batch one after another.
  LaneRandom* random = nullptr;
  int64_t lane = 0;
  int64_t lanes = 1;

  size_t DataInputs(size_t inputs) const { return form == nullptr ? inputs : form->data; }
};

// Thread-safe: all state is in the arguments.
class Operator {
 public:
  virtual ~Operator() = default;

  // Inputs and output are float32 [batch, shape...]. `weights` are this layer's, in order,
  // shaped as Keras has them (a kConv kernel as a permuted view). Moving statistics are updated
  // in place when training.
  virtual at::Tensor Forward(const std::vector<at::Tensor>& inputs,
                             const std::vector<at::Tensor>& weights,
                             const ForwardContext& context) const = 0;
  // Forward() of several models at once (model/network/lanes.h); `weights` are [lanes, Keras'
  // shape...]. Unless a layer has a form of its own, one without weights sees all lanes as one
  // batch, and one with weights runs each lane by itself.
  virtual LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                                 const std::vector<at::Tensor>& weights,
                                 const LaneContext& context) const;
  // Wants its weights and does its sums in float32 whatever the precision of what it works on:
  // normalizations.
  virtual bool float_weights() const { return false; }
};

// The operator of a layer of the table, which outlives it.
std::unique_ptr<Operator> OperatorOf(const Layer& layer);

}  // namespace hopper
