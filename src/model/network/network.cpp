#include "model/network/network.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "model/weights/weight_strides.h"

namespace hopper {
namespace {

at::Tensor Bind(const WeightSpec& weight, float* flat) {
  return at::from_blob(flat + weight.offset, weight.shape, WeightStrides(weight),
                       at::TensorOptions().dtype(at::kFloat));
}

}  // namespace

Network::Network(std::shared_ptr<const ModelSpec> spec) : Network(spec, PartsOf<Network>(*spec)) {}

Network::Network(std::shared_ptr<const ModelSpec> whole_spec, NetworkParts parts)
    : PlannedNetwork(std::move(whole_spec), std::move(parts)) {
  for (const auto& layer : spec().layers) operators_.push_back(OperatorOf(*layer));
  std::vector<int> last_use(spec().tensors.size(), -1);
  for (size_t i = 0; i < spec().nodes.size(); ++i) {
    for (int input : spec().nodes[i].inputs) last_use[input] = static_cast<int>(i);
  }
  last_use[spec().output] = -1;
  for (size_t i = 0; i < spec().nodes.size(); ++i) {
    std::vector<int> released;
    for (int input : spec().nodes[i].inputs) {
      const bool last = last_use[input] == static_cast<int>(i);
      const bool known = std::find(released.begin(), released.end(), input) != released.end();
      if (last && !known) released.push_back(input);
    }
    released_.push_back(std::move(released));
  }
}

std::vector<at::Tensor> Network::BindWeights(float* flat) const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(spec().weights.size());
  for (const WeightSpec& weight : spec().weights) tensors.push_back(Bind(weight, flat));
  return tensors;
}

std::vector<at::Tensor> Network::BindWeights(int layer, float* flat) const {
  std::vector<at::Tensor> tensors;
  for (int index : spec().layer_weights[layer]) {
    tensors.push_back(Bind(spec().weights[index], flat));
  }
  return tensors;
}

at::Tensor Network::Forward(const at::Tensor& input, const std::vector<at::Tensor>& weights,
                            ForwardContext context) const {
  const uint64_t linear = context.linear;
  const bool training = context.training;
  std::vector<at::Tensor> tensors(spec().tensors.size());
  tensors[spec().input] = input;
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> layer_weights;
  for (size_t i = 0; i < spec().nodes.size(); ++i) {
    const Node& node = spec().nodes[i];
    LookAtCancel();
    inputs.clear();
    for (int id : node.inputs) inputs.push_back(tensors[id]);
    layer_weights.clear();
    for (int index : spec().layer_weights[node.layer]) layer_weights.push_back(weights[index]);
    // Lets go of activations as soon as nobody needs them; autograd keeps what it needs.
    for (int id : released_[i]) tensors[id].reset();
    context.layer = stream(i);
    context.training = training && !node.inference;
    context.linear = LeavesOutActivation(spec(), linear, node.output) ? 1 : 0;
    context.form = &node.form;
    tensors[node.output] = op(node.layer).Forward(inputs, layer_weights, context);
  }
  return tensors[spec().output];
}

}  // namespace hopper
