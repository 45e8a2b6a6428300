#include "model/network/lanes.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <utility>

#include "model/batch_sizes.h"
#include "model/layer.h"
#include "model/network/fold_lanes.h"
#include "model/weights/weight_strides.h"

namespace hopper {
namespace {

// From this size on a lane's tensors are worth a kernel of their own, and putting lanes together
// would cost more than it saves: 1 MB.
constexpr int64_t kLargeLane = 1 << 18;

at::Tensor UnfoldLanes(const at::Tensor& x, int64_t lanes) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] /= lanes;
  sizes.insert(sizes.begin(), lanes);
  return x.reshape(sizes);
}

ForwardContext ContextOf(const LaneContext& context) {
  ForwardContext forward;
  forward.training = context.training;
  forward.linear = context.linear;
  forward.layer = context.layer;
  forward.form = context.form;
  forward.random = context.random;
  forward.penalties = context.penalties;
  return forward;
}

}  // namespace

at::Tensor FoldLanes(const at::Tensor& x) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[1] *= sizes[0];
  sizes.erase(sizes.begin());
  return x.reshape(sizes);
}

const at::Tensor& LaneValue::Stacked() const {
  if (!stacked_.defined()) {
    stacked_ = separate_.size() == 1 ? separate_[0].unsqueeze(0) : at::stack(separate_, 0);
  }
  return stacked_;
}

const std::vector<at::Tensor>& LaneValue::Separate() const {
  if (separate_.empty()) {
    separate_ =
        stacked_.size(0) == 1 ? std::vector<at::Tensor>{stacked_.squeeze(0)} : stacked_.unbind(0);
  }
  return separate_;
}

LaneValue Operator::ForwardLanes(const std::vector<LaneValue>& inputs,
                                 const std::vector<at::Tensor>& weights,
                                 const LaneContext& context) const {
  const auto lanes = static_cast<int64_t>(inputs[0].lanes());
  ForwardContext forward = ContextOf(context);
  forward.lanes = lanes;
  const bool apart = std::any_of(inputs.begin(), inputs.end(), [](const LaneValue& input) {
    return !input.is_stacked() && input.lane_elements() >= kLargeLane;
  });
  if (weights.empty() && !apart) {
    std::vector<at::Tensor> folded;
    for (const LaneValue& input : inputs) folded.push_back(FoldLanes(input.Stacked()));
    forward.lane = -1;
    return LaneValue(UnfoldLanes(Forward(folded, {}, forward), lanes));
  }
  std::vector<std::vector<at::Tensor>> lane_weights;
  for (const at::Tensor& weight : weights) lane_weights.push_back(weight.unbind(0));
  std::vector<at::Tensor> shared;
  for (const LaneValue& input : inputs) {
    if (!input.is_stacked()) continue;
    shared.push_back(input.Stacked());
    input.Separate();  // on the caller's queue
  }
  std::vector<at::Tensor> outputs;
  ForEachLane(context.queues, lanes, shared, [&](int64_t lane) {
    const auto at = static_cast<size_t>(lane);
    forward.lane = lane;
    std::vector<at::Tensor> own_inputs;
    std::vector<at::Tensor> own_weights;
    for (const LaneValue& input : inputs) own_inputs.push_back(input.Separate()[at]);
    for (const auto& weight : lane_weights) own_weights.push_back(weight[at]);
    outputs.push_back(Forward(own_inputs, own_weights, forward));
  });
  return LaneValue(std::move(outputs));
}

LaneNetwork::LaneNetwork(const Network& network)
    : network_(network), released_(network.spec().nodes.size()) {
  const ModelSpec& model = spec();
  std::vector<int> last(model.tensors.size(), -1);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    for (int id : model.nodes[i].inputs) last[static_cast<size_t>(id)] = static_cast<int>(i);
  }
  last[static_cast<size_t>(model.output)] = -1;
  for (size_t id = 0; id < last.size(); ++id) {
    if (last[id] >= 0) released_[static_cast<size_t>(last[id])].push_back(static_cast<int>(id));
  }
}

std::vector<at::Tensor> LaneNetwork::BindWeights(const at::Tensor& flat) const {
  std::vector<at::Tensor> tensors;
  const int64_t lanes = flat.size(0);
  auto* base = static_cast<uint8_t*>(flat.data_ptr());
  for (const WeightSpec& weight : spec().weights) {
    const std::vector<int64_t> sizes = WithBatch(lanes, weight.shape);
    std::vector<int64_t> strides{flat.stride(0)};
    const std::vector<int64_t> own = WeightStrides(weight);
    strides.insert(strides.end(), own.begin(), own.end());
    tensors.push_back(at::from_blob(
        base + static_cast<size_t>(weight.offset) * flat.element_size(), sizes, strides,
        [](void*) {}, flat.options(), flat.device()));
  }
  return tensors;
}

at::Tensor LaneNetwork::Forward(const at::Tensor& input, const std::vector<at::Tensor>& weights,
                                LaneContext context) const {
  const ModelSpec& model = spec();
  const uint64_t linear = context.linear;
  const bool training = context.training;
  std::vector<LaneValue> values(model.tensors.size());
  values[static_cast<size_t>(model.input)] = LaneValue(input);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    std::vector<LaneValue> inputs;
    for (int id : node.inputs) inputs.push_back(values[static_cast<size_t>(id)]);
    std::vector<at::Tensor> own;
    for (int index : model.layer_weights[static_cast<size_t>(node.layer)]) {
      own.push_back(weights[static_cast<size_t>(index)]);
    }
    for (int id : released_[i]) values[static_cast<size_t>(id)] = LaneValue();
    context.layer = network_.stream(i);
    context.training = training && !node.inference;
    context.linear = LeavesOutActivation(model, linear, node.output) ? 1 : 0;
    context.form = &node.form;
    values[static_cast<size_t>(node.output)] = op(node.layer).ForwardLanes(inputs, own, context);
  }
  return values[static_cast<size_t>(model.output)].Stacked();
}

}  // namespace hopper
