// A model's forward pass on libtorch: the nodes of a ModelSpec run in order over weights that
// are views into one flat float32 buffer.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/network/operator.h"
#include "model/planned/planned_network.h"

namespace hopper {

// Immutable and thread-safe.
class Network : public PlannedNetwork {
 public:
  explicit Network(std::shared_ptr<const ModelSpec> spec);
  Network(std::shared_ptr<const ModelSpec> spec, NetworkParts parts);

  std::unique_ptr<AutogradOp> MakeAutogradOp(int layer, PlanNode* node) const override;

  // By a layer's index.
  const Operator& op(int layer) const { return *operators_[static_cast<size_t>(layer)]; }

  // One tensor per spec().weights, each a view of `flat` (spec().flat_size floats, 64-byte
  // aligned, owned by the caller and outliving the tensors), with Keras' shape; kConv kernels
  // are permuted views. None requires grad.
  std::vector<at::Tensor> BindWeights(float* flat) const;
  // The tensors of one layer's weights.
  std::vector<at::Tensor> BindWeights(int layer, float* flat) const;

  // `input` is float32 [batch, input_shape...]. The model's output, or the logits of
  // those outputs of `context.linear` that end in softmax or sigmoid.
  at::Tensor Forward(const at::Tensor& input, const std::vector<at::Tensor>& weights,
                     ForwardContext context) const;

 private:
  std::vector<std::unique_ptr<const Operator>> operators_;
  std::vector<std::vector<int>> released_;  // by node: ids of tensors that no later node reads
};

}  // namespace hopper
