#include "model/network/network.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "model/graph/frozen_prefix.h"
#include "model/network/weight_strides.h"

namespace hopper {
namespace {

at::Tensor Bind(const WeightSpec& weight, float* flat) {
  return at::from_blob(flat + weight.offset, weight.shape, WeightStrides(weight),
                       at::TensorOptions().dtype(at::kFloat));
}

}  // namespace

Network::Network(std::shared_ptr<const ModelSpec> spec) : Network(std::move(spec), Whole::kYes) {}

Network::Network(std::shared_ptr<const ModelSpec> spec, Whole whole) : spec_(std::move(spec)) {
  if (whole == Whole::kYes) {
    FrozenSplit split = SplitFrozen(*spec_);
    if (split.prefix != nullptr) {
      prefix_.reset(new Network(std::move(split.prefix), Whole::kNo));
      head_.reset(new Network(std::move(split.head), Whole::kNo));
    }
  }
  for (const auto& layer : spec_->layers) operators_.push_back(OperatorOf(*layer));
  std::vector<int> last_use(spec_->tensors.size(), -1);
  for (size_t i = 0; i < spec_->nodes.size(); ++i) {
    for (int input : spec_->nodes[i].inputs) last_use[input] = static_cast<int>(i);
  }
  last_use[spec_->output] = -1;
  std::vector<uint32_t> calls(spec_->layers.size(), 0);
  for (size_t i = 0; i < spec_->nodes.size(); ++i) {
    const Node& node = spec_->nodes[i];
    Step step;
    // A layer that is called twice draws two dropout masks.
    step.stream = static_cast<uint32_t>(node.layer) +
                  calls[node.layer]++ * static_cast<uint32_t>(spec_->layers.size());
    for (int input : node.inputs) {
      const bool last = last_use[input] == static_cast<int>(i);
      const bool released =
          std::find(step.release.begin(), step.release.end(), input) != step.release.end();
      if (last && !released) step.release.push_back(input);
    }
    steps_.push_back(std::move(step));
  }
}

std::vector<at::Tensor> Network::BindWeights(float* flat) const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(spec_->weights.size());
  for (const WeightSpec& weight : spec_->weights) tensors.push_back(Bind(weight, flat));
  return tensors;
}

std::vector<at::Tensor> Network::BindWeights(int layer, float* flat) const {
  std::vector<at::Tensor> tensors;
  for (int index : spec_->layer_weights[layer]) {
    tensors.push_back(Bind(spec_->weights[index], flat));
  }
  return tensors;
}

at::Tensor Network::Forward(const at::Tensor& input, const std::vector<at::Tensor>& weights,
                            ForwardContext context) const {
  const uint64_t linear = context.linear;
  const bool training = context.training;
  std::vector<at::Tensor> tensors(spec_->tensors.size());
  tensors[spec_->input] = input;
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> layer_weights;
  for (size_t i = 0; i < spec_->nodes.size(); ++i) {
    const Node& node = spec_->nodes[i];
    LookAtCancel();
    inputs.clear();
    for (int id : node.inputs) inputs.push_back(tensors[id]);
    layer_weights.clear();
    for (int index : spec_->layer_weights[node.layer]) layer_weights.push_back(weights[index]);
    // Lets go of activations as soon as nobody needs them; autograd keeps what it needs.
    for (int id : steps_[i].release) tensors[id].reset();
    context.layer = steps_[i].stream;
    context.training = training && !node.inference;
    context.linear = LeavesOutActivation(*spec_, linear, node.output) ? 1 : 0;
    context.form = &node.form;
    tensors[node.output] = op(node.layer).Forward(inputs, layer_weights, context);
  }
  return tensors[spec_->output];
}

}  // namespace hopper
