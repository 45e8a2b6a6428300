#include "model/network/step_plan.h"

#include <ATen/Version.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "activation/table.h"
#include "base/cancel.h"
#include "base/product.h"
#include "model/layers/activation/activation_layer.h"
#include "model/planned/place_buffers.h"

namespace hopper {

namespace {

// By node: the node that alone reads what it gives, if that applies an activation to each element
// by itself; otherwise 0.
std::vector<size_t> ActivationsBehind(const ModelSpec& spec, uint64_t linear) {
  std::vector<int> readers(spec.tensors.size(), 0);
  std::vector<size_t> reader(spec.tensors.size(), 0);
  for (size_t i = 0; i < spec.nodes.size(); ++i) {
    for (const int id : spec.nodes[i].inputs) {
      ++readers[id];
      reader[id] = i;
    }
  }
  ++readers[spec.output];
  std::vector<size_t> behind(spec.nodes.size(), 0);
  for (size_t i = 0; i < spec.nodes.size(); ++i) {
    const int id = spec.nodes[i].output;
    if (readers[id] != 1 || reader[id] == 0) continue;
    const Node& next = spec.nodes[reader[id]];
    const auto* layer = dynamic_cast<const layers::ActivationLayer*>(spec.layers[next.layer].get());
    if (layer == nullptr || FormOf(layer->activation).place < 0) continue;
    if (!AppliesActivation(layer->activation, LeavesOutActivation(spec, linear, next.output))) {
      continue;
    }
    behind[i] = reader[id];
  }
  return behind;
}

}  // namespace

StepPlan::~StepPlan() = default;

StepPlan::StepPlan(const Network& network, const PlanOptions& options) : watch_(options.watch) {
  const ModelSpec& spec = network.spec();
  PlanNodes(network, options);
  if (options.training) ConnectGradients(spec);
  SetLifetimes(spec);
  PlaceBuffers();
  if (options.measured_parts > 0) return;
  arena_ = at::empty({arena_floats_}, at::kFloat);
  float* base = arena_.data_ptr<float>();
  for (const auto& [buffer, offset] : offsets_) buffer->data = base + offset;
  offsets_.clear();
}

PlanBuffer* StepPlan::NewBuffer(int64_t floats) {
  buffers_.push_back(std::make_unique<PlanBuffer>());
  buffers_.back()->size = std::min(floats, kMostFloats);
  return buffers_.back().get();
}

void StepPlan::PlanNodes(const Network& network, const PlanOptions& options) {
  const ModelSpec& spec = network.spec();
  const Kernels& kernels =
      options.kernels != nullptr ? *options.kernels : KernelsFor(at::get_cpu_capability().c_str());
  const Bf16Kernels* bf16 = options.precision == Precision::kBf16
                                ? &Bf16KernelsFor(at::get_cpu_capability().c_str())
                                : nullptr;
  values_.resize(spec.tensors.size());
  roots_.resize(spec.tensors.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    values_[i].shape = spec.tensors[i];
    values_[i].size = Product({options.batch, ElementCount(spec.tensors[i])});
    roots_[i] = static_cast<int>(i);
  }
  input_id_ = spec.input;
  input_.size = values_[spec.input].size;
  values_[spec.input].value = &input_;
  if (options.training && options.input_gradient) {
    values_[spec.input].gradient = NewBuffer(input_.size);
  }
  entries_.resize(spec.nodes.size());
  const std::vector<size_t> behind = ActivationsBehind(spec, options.linear);
  std::vector<char> taken(spec.nodes.size(), 0);
  for (size_t i = 0; i < spec.nodes.size(); ++i) {
    const Node& at = spec.nodes[i];
    auto node = std::make_unique<PlanNode>();
    node->batch = options.batch;
    node->training = options.training && !at.inference;
    node->linear = LeavesOutActivation(spec, options.linear, at.output);
    node->form = &at.form;
    node->seed = options.seed;
    node->stream = network.stream(i);
    node->kernels = &kernels;
    node->bf16 = bf16;
    node->bf16_everywhere = options.bf16_everywhere;
    node->measured_parts = options.measured_parts;
    if (options.measured_parts == 0) node->team = Team::Current();
    bool needs_gradient = false;
    for (int id : at.inputs) {
      node->inputs.push_back(&values_[id]);
      needs_gradient |= values_[id].gradient != nullptr;
    }
    for (int index : spec.layer_weights[at.layer]) {
      const WeightSpec& weight = spec.weights[index];
      const bool trainable = options.training && weight.slot_offset >= 0;
      node->weights.push_back({weight.offset, weight.size(), trainable});
      needs_gradient |= trainable;
    }
    PlanValue& output = values_[at.output];
    output.value = NewBuffer(output.size);
    if (needs_gradient) output.gradient = NewBuffer(output.size);
    node->output = &output;
    node->backward = needs_gradient;
    node->input_accumulates.assign(node->inputs.size(), 0);
    node->weight_accumulates.assign(node->weights.size(), 0);
    Entry& entry = entries_[i];
    if (behind[i] != 0) {
      const Layer& next = *spec.layers[spec.nodes[behind[i]].layer];
      node->next = &static_cast<const layers::ActivationLayer&>(next).activation;
    }
    node->alias = taken[i] != 0;
    if (!node->alias) entry.op = PlanLayer(*spec.layers[at.layer], node.get());
    if (entry.op != nullptr && node->takes_next) taken[behind[i]] = 1;
    if (node->alias) {
      const PlanValue& input = *node->inputs[0];
      output.value = input.value;
      output.gradient = input.gradient;
      roots_[at.output] = roots_[at.inputs[0]];
    } else if (entry.op == nullptr) {
      std::unique_ptr<AutogradOp> op = MakeAutogradOp(network, at.layer, node.get());
      autograd_ops_.push_back(op.get());
      entry.op = std::move(op);
      std::vector<Shape> shapes;
      for (const PlanValue* input : node->inputs) shapes.push_back(input->shape);
      const int64_t within = spec.layers[at.layer]->AutogradFloats(shapes, output.shape);
      int64_t floats = SaturatingAdd(2 * output.size, Product({options.batch, within}));
      for (const PlanValue* input : node->inputs) floats += 2 * input->size;
      for (const PlanWeight& weight : node->weights) floats += 2 * weight.size;
      // With backward, all of them live until then.
      autograd_floats_ =
          needs_gradient ? autograd_floats_ + 2 * floats : std::max(autograd_floats_, floats);
    }
    entry.node = std::move(node);
  }
  output_ = &values_[spec.output];
}

// Decides from the loss backwards which nodes get a gradient, and who writes a gradient first.
void StepPlan::ConnectGradients(const ModelSpec& spec) {
  std::vector<char> value_written(values_.size(), 0);
  std::vector<char> weight_written(spec.weights.size(), 0);
  value_written[roots_[spec.output]] = 1;
  for (size_t i = entries_.size(); i-- > 0;) {
    Entry& entry = entries_[i];
    const Node& at = spec.nodes[i];
    PlanNode& node = *entry.node;
    if (entry.op == nullptr || !node.backward || !value_written[roots_[at.output]]) continue;
    entry.backward = true;
    for (size_t j = 0; j < at.inputs.size(); ++j) {
      if (!node.InputNeedsGradient(j)) continue;
      char& written = value_written[roots_[at.inputs[j]]];
      node.input_accumulates[j] = written;
      written = 1;
    }
    const std::vector<int>& indexes = spec.layer_weights[at.layer];
    for (size_t j = 0; j < indexes.size(); ++j) {
      if (!node.weights[j].trainable) continue;
      node.weight_accumulates[j] = weight_written[indexes[j]];
      weight_written[indexes[j]] = 1;
    }
  }
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    const WeightSpec& weight = spec.weights[i];
    if (weight.slot_offset >= 0 && !weight_written[i]) {
      untouched_.push_back({weight.offset, weight.size(), true});
    }
  }
}

// Node i runs forward at moment i + 1 and backward at 2 n + 1 - i, with the loss between them at
// n + 1. The output lives to the loss, where metrics look at it; the input is the caller's.
void StepPlan::SetLifetimes(const ModelSpec& spec) {
  const int n = static_cast<int>(entries_.size());
  const int loss = n + 1;
  const auto use = [](PlanBuffer* buffer, int moment) {
    if (buffer == nullptr) return;
    buffer->first = buffer->first == 0 ? moment : std::min(buffer->first, moment);
    buffer->last = std::max(buffer->last, moment);
  };
  use(values_[spec.output].value, loss);
  use(values_[spec.output].gradient, loss);
  // The caller may look at it after the step.
  if (values_[spec.input].gradient != nullptr) use(values_[spec.input].gradient, 2 * n + 2);
  for (int i = 0; i < n; ++i) {
    const Entry& entry = entries_[i];
    const PlanNode& node = *entry.node;
    if (entry.op == nullptr) continue;
    const int forward = i + 1;
    const int backward = 2 * n + 1 - i;
    use(node.output->value, forward);
    for (const PlanValue* input : node.inputs) use(input->value, forward);
    if (entry.backward) {
      use(node.output->gradient, backward);
      if (node.keeps_output) use(node.output->value, backward);
      for (const PlanValue* input : node.inputs) {
        use(input->gradient, backward);
        if (node.keeps_inputs) use(input->value, backward);
      }
    }
    for (const PlanNode::Request& request : node.requests_) {
      if (request.during != PlanNode::During::kBackward) use(request.buffer.get(), forward);
      if (request.during != PlanNode::During::kForward && entry.backward) {
        use(request.buffer.get(), backward);
      }
    }
  }
}

void StepPlan::PlaceBuffers() {
  std::vector<PlanBuffer*> all;
  for (const auto& buffer : buffers_) all.push_back(buffer.get());
  for (const Entry& entry : entries_) {
    for (const auto& request : entry.node->requests_) all.push_back(request.buffer.get());
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const PlanBuffer* b) { return b->first == 0 || b->size == 0; }),
            all.end());
  arena_floats_ = hopper::PlaceBuffers(std::move(all), &offsets_);
}

bool StepPlan::reads_shadow() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.node->reads_shadow; });
}

void StepPlan::Forward(const StepArguments& step) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].op == nullptr) continue;
    LookAtCancel();
    if (watch_ != nullptr) watch_->Begin(i, /*backward=*/false);
    entries_[i].op->Forward(step);
  }
}

void StepPlan::Backward(const StepArguments& step) {
  for (const PlanWeight& weight : untouched_) {
    std::memset(step.gradients + weight.offset, 0,
                static_cast<size_t>(weight.size) * sizeof(float));
  }
  for (size_t i = entries_.size(); i-- > 0;) {
    if (!entries_[i].backward) continue;
    LookAtCancel();
    if (watch_ != nullptr) watch_->Begin(i, /*backward=*/true);
    entries_[i].op->Backward(step);
  }
}

void StepPlan::Release() {
  for (AutogradOp* op : autograd_ops_) op->Release();
}

}  // namespace hopper
