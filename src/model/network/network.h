// A model's forward pass on libtorch: the nodes of a ModelSpec run in order over weights that
// are views into one flat float32 buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/network/operator.h"
#include "model/spec.h"

namespace hopper {

// Immutable and thread-safe.
class Network {
 public:
  explicit Network(std::shared_ptr<const ModelSpec> spec);

  const ModelSpec& spec() const { return *spec_; }
  // By a layer's index.
  const Operator& op(int layer) const { return *operators_[static_cast<size_t>(layer)]; }

  // One tensor per spec().weights, each a view of `flat` (spec().flat_size floats, 64-byte
  // aligned, owned by the caller and outliving the tensors), with Keras' shape; kConv kernels
  // are permuted views. None requires grad.
  std::vector<at::Tensor> BindWeights(float* flat) const;
  // The tensors of one layer's weights.
  std::vector<at::Tensor> BindWeights(int layer, float* flat) const;

  // The parts of a model that begins with frozen layers (model/graph/frozen_prefix.h); null for
  // others.
  const std::shared_ptr<const Network>& prefix() const { return prefix_; }
  const std::shared_ptr<const Network>& head() const { return head_; }

  // ForwardContext::layer of a node.
  uint32_t stream(size_t node) const { return steps_[node].stream; }

  // `input` is float32 [batch, input_shape...]. The model's output, or the logits of
  // those outputs of `context.linear` that end in softmax or sigmoid.
  at::Tensor Forward(const at::Tensor& input, const std::vector<at::Tensor>& weights,
                     ForwardContext context) const;

 private:
  // What is known about a node before any tensor.
  struct Step {
    uint32_t stream = 0;       // ForwardContext::layer, another one for each call of a layer
    std::vector<int> release;  // tensor ids that no later node reads
  };
  enum class Whole { kYes, kNo };
  Network(std::shared_ptr<const ModelSpec> spec, Whole whole);

  std::shared_ptr<const ModelSpec> spec_;
  std::shared_ptr<const Network> prefix_;
  std::shared_ptr<const Network> head_;
  std::vector<std::unique_ptr<const Operator>> operators_;
  std::vector<Step> steps_;
};

}  // namespace hopper
