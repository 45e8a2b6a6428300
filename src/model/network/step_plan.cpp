#include "model/network/step_plan.h"

#include <ATen/Version.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "activation/table.h"
#include "base/cancel.h"
#include "base/pieces.h"
#include "base/product.h"
#include "model/layers/activation/activation_layer.h"
#include "model/planned/place_buffers.h"

namespace hopper {

namespace {

// Of a piece of a value, about: a few such pieces stay in a second-level cache.
constexpr int64_t kPieceFloats = 64 * 1024;

// By tensor: the node that alone reads it, 0 if there is none.
std::vector<size_t> OnlyReaders(const ModelSpec& spec) {
  std::vector<int> readers(spec.tensors.size(), 0);
  std::vector<size_t> reader(spec.tensors.size(), 0);
  for (size_t i = 0; i < spec.nodes.size(); ++i) {
    for (const int id : spec.nodes[i].inputs) {
      ++readers[id];
      reader[id] = i;
    }
  }
  ++readers[spec.output];
  for (size_t id = 0; id < reader.size(); ++id) {
    if (readers[id] != 1) reader[id] = 0;
  }
  return reader;
}

// By node: the node that alone reads what it gives, if that applies an activation to each element
// by itself; otherwise 0.
std::vector<size_t> ActivationsBehind(const ModelSpec& spec, const std::vector<size_t>& reader,
                                      uint64_t linear) {
  std::vector<size_t> behind(spec.nodes.size(), 0);
  for (size_t i = 0; i < spec.nodes.size(); ++i) {
    const int id = spec.nodes[i].output;
    if (reader[id] == 0) continue;
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
  MakeStages();
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
  batch_ = options.batch;
  entries_.resize(spec.nodes.size());
  const std::vector<size_t> reader = OnlyReaders(spec);
  const std::vector<size_t> behind = ActivationsBehind(spec, reader, options.linear);
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
    pieces_ = options.training && node->parts() == 1;
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
    if (node->gradient_in_place && node->InputNeedsGradient(0) && reader[at.inputs[0]] == i &&
        roots_[at.inputs[0]] == at.inputs[0] && at.inputs[0] != spec.input) {
      values_[at.inputs[0]].gradient = output.gradient;
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

void StepPlan::AddStages(size_t entry, bool backward) {
  std::vector<Stage>& stages = backward ? backward_ : forward_;
  auto* op = pieces_ ? dynamic_cast<PiecewiseOp*>(entries_[entry].op.get()) : nullptr;
  const bool joins = op != nullptr && !stages.empty() && stages.back().op != nullptr;
  const bool surveys = op != nullptr && op->surveys();
  if (surveys) stages.push_back({entry, op, true, joins ? groups_ : ++groups_});
  stages.push_back({entry, op, false, joins && !surveys ? groups_ : ++groups_});
}

void StepPlan::MakeStages() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].op != nullptr) AddStages(i, /*backward=*/false);
  }
  loss_group_ = ++groups_;
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].backward) AddStages(i, /*backward=*/true);
  }
}

// A moment is a group of stages, or the loss. The output lives to the loss, where metrics look at
// it; the input is the caller's.
void StepPlan::SetLifetimes(const ModelSpec& spec) {
  const auto use = [](PlanBuffer* buffer, int moment) {
    if (buffer == nullptr) return;
    buffer->first = buffer->first == 0 ? moment : std::min(buffer->first, moment);
    buffer->last = std::max(buffer->last, moment);
  };
  use(values_[spec.output].value, loss_group_);
  use(values_[spec.output].gradient, loss_group_);
  // The caller may look at it after the step.
  if (values_[spec.input].gradient != nullptr) use(values_[spec.input].gradient, groups_ + 1);
  for (const std::vector<Stage>* stages : {&forward_, &backward_}) {
    const bool backward = stages == &backward_;
    for (const Stage& stage : *stages) {
      const PlanNode& node = *entries_[stage.entry].node;
      const auto elsewhere = backward ? PlanNode::During::kForward : PlanNode::During::kBackward;
      for (const PlanNode::Request& request : node.requests_) {
        if (request.during != elsewhere) use(request.buffer.get(), stage.group);
      }
      if (backward) use(node.output->gradient, stage.group);
      if (!stage.survey && (!backward || node.keeps_output)) use(node.output->value, stage.group);
      for (const PlanValue* input : node.inputs) {
        if (!backward || node.keeps_inputs) use(input->value, stage.group);
        if (backward && !stage.survey) use(input->gradient, stage.group);
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

void StepPlan::Run(const std::vector<Stage>& stages, bool backward, const StepArguments& step) {
  for (auto begin = stages.begin(), end = begin; begin != stages.end(); begin = end) {
    int64_t widest = 1;  // floats of an example
    for (; end != stages.end() && end->group == begin->group; ++end) {
      const PlanNode& node = *entries_[end->entry].node;
      widest = std::max(widest, node.output->size / batch_);
      if (end->op != nullptr && !end->survey) {
        backward ? end->op->BeginBackward(step) : end->op->BeginForward(step);
      }
    }
    const int64_t examples = std::max<int64_t>(1, kPieceFloats / widest);
    const auto begins = [&](const Stage& stage) {
      LookAtCancel();
      if (watch_ != nullptr) watch_->Begin(stage.entry, backward);
    };
    if (begin->op == nullptr) {
      begins(*begin);
      PlannedOp& op = *entries_[begin->entry].op;
      backward ? op.Backward(step) : op.Forward(step);
      continue;
    }
    for (int64_t first = 0; first < batch_; first += examples) {
      const int64_t last = std::min(batch_, first + examples);
      for (auto stage = begin; stage != end; ++stage) {
        begins(*stage);
        if (backward && stage->survey) stage->op->SurveyBackward(first, last);
        if (backward && !stage->survey) stage->op->BackwardPiece(step, first, last);
        if (!backward && stage->survey) stage->op->SurveyForward(first, last);
        if (!backward && !stage->survey) stage->op->ForwardPiece(step, first, last);
      }
    }
    for (auto stage = begin; stage != end; ++stage) {
      if (backward && !stage->survey) stage->op->EndBackward(step);
    }
  }
}

void StepPlan::Forward(const StepArguments& step) { Run(forward_, /*backward=*/false, step); }

void StepPlan::Backward(const StepArguments& step) {
  for (const PlanWeight& weight : untouched_) {
    ZeroInPieces(step.gradients + weight.offset, static_cast<size_t>(weight.size) * sizeof(float));
  }
  Run(backward_, /*backward=*/true, step);
}

void StepPlan::Release() {
  for (AutogradOp* op : autograd_ops_) op->Release();
}

}  // namespace hopper
