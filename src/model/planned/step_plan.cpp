#include "model/planned/step_plan.h"

#include <algorithm>
#include <atomic>
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

std::atomic<bool> planned_steps{true};

}  // namespace

void UsePlannedSteps(bool planned) { planned_steps.store(planned); }
bool PlannedStepsAreUsed() { return planned_steps.load(std::memory_order_relaxed); }

StepPlan::~StepPlan() = default;

StepPlan::StepPlan(const PlannedNetwork& network, const PlanOptions& options)
    : watch_(options.watch) {
  const ModelSpec& spec = network.spec();
  PlanNodes(network, options);
  if (options.training) ConnectGradients(spec);
  MakeStages(spec);
  SetLifetimes(spec);
  ShrinkBuffers();
  PlaceBuffers();
  if (options.measured_parts > 0) return;
  arena_ = WorkerArray(arena_floats_);
  for (const auto& [buffer, offset] : offsets_) {
    buffer->data = buffer->piece = arena_.data() + offset;
  }
  offsets_.clear();
}

PlanBuffer* StepPlan::NewBuffer(int64_t floats) {
  buffers_.push_back(std::make_unique<PlanBuffer>());
  buffers_.back()->size = std::min(floats, kMostFloats);
  return buffers_.back().get();
}

void StepPlan::PlanNodes(const PlannedNetwork& network, const PlanOptions& options) {
  const ModelSpec& spec = network.spec();
  const Kernels& kernels = options.kernels != nullptr ? *options.kernels : KernelsHere();
  const Bf16Kernels* bf16 = options.precision == Precision::kBf16 ? &Bf16KernelsHere() : nullptr;
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
    if (!node->alias && PlannedStepsAreUsed())
      entry.op = PlanLayer(*spec.layers[at.layer], node.get());
    if (entry.op != nullptr && node->takes_next) taken[behind[i]] = 1;
    if (node->alias) {
      const PlanValue& input = *node->inputs[0];
      output.value = input.value;
      output.gradient = input.gradient;
      roots_[at.output] = roots_[at.inputs[0]];
    } else if (entry.op == nullptr) {
      std::unique_ptr<AutogradOp> op = network.MakeAutogradOp(at.layer, node.get());
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

void StepPlan::AddStages(Entry* entry, bool backward) {
  std::vector<Stage>& stages = backward ? backward_ : forward_;
  const auto piecewise = [&](const Entry& of) {
    return pieces_ ? dynamic_cast<PiecewiseOp*>(of.op.get()) : nullptr;
  };
  const auto add = [&](const Entry& of, Stage::Kind kind, bool begins) {
    PiecewiseOp* op = piecewise(of);
    if (begins || op == nullptr || stages.empty() || stages.back().op == nullptr) {
      groups_.emplace_back();
    }
    const auto at = static_cast<size_t>(&of - entries_.data());
    stages.push_back({at, op, kind, static_cast<int>(groups_.size()) - 1});
  };
  if (backward && entry->anew != nullptr) add(*entry->anew, Stage::kAnew, /*begins=*/false);
  const bool surveys = piecewise(*entry) != nullptr && piecewise(*entry)->surveys();
  if (surveys) add(*entry, Stage::kSurvey, /*begins=*/false);
  add(*entry, Stage::kPass, /*begins=*/surveys);
}

void StepPlan::SizePieces(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    if (stage.op == nullptr) continue;
    const int64_t floats = entries_[stage.entry].node->output->size / batch_;
    const int64_t examples = std::max<int64_t>(1, kPieceFloats / std::max<int64_t>(1, floats));
    int64_t& least = groups_[stage.group].examples;
    least = std::min(least == 0 ? batch_ : least, examples);
  }
}

void StepPlan::FindRecomputed(const ModelSpec& spec) {
  std::vector<int> readers(values_.size(), 0);
  ++readers[roots_[spec.output]];
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].op == nullptr) continue;
    for (const int id : spec.nodes[i].inputs) ++readers[roots_[id]];
  }
  for (size_t k = 1; k < forward_.size(); ++k) {
    const Stage& stage = forward_[k - 1];
    Entry& reader = entries_[forward_[k].entry];
    if (stage.kind != Stage::kPass || forward_[k].group != stage.group) continue;
    if (!stage.op->recomputes() || groups_[stage.group].examples == batch_) continue;
    const int output = roots_[spec.nodes[stage.entry].output];
    const std::vector<int>& inputs = spec.nodes[forward_[k].entry].inputs;
    if (readers[output] != 1 || inputs.size() != 1 || roots_[inputs[0]] != output) continue;
    if (reader.backward && reader.node->keeps_inputs) reader.anew = &entries_[stage.entry];
  }
}

void StepPlan::MakeStages(const ModelSpec& spec) {
  groups_.resize(1);  // moment 0 is none
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].op != nullptr) AddStages(&entries_[i], /*backward=*/false);
  }
  SizePieces(forward_);
  FindRecomputed(spec);
  loss_group_ = static_cast<int>(groups_.size());
  groups_.emplace_back();
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].backward) AddStages(&entries_[i], /*backward=*/true);
  }
  SizePieces(backward_);
  groups_.emplace_back();  // after the step
}

// The output lives to the loss, where metrics look at it; the input is the caller's.
void StepPlan::SetLifetimes(const ModelSpec& spec) {
  const auto use = [](PlanBuffer* buffer, int moment) {
    if (buffer == nullptr) return;
    buffer->first = buffer->first == 0 ? moment : std::min(buffer->first, moment);
    buffer->last = std::max(buffer->last, moment);
  };
  use(values_[spec.output].value, loss_group_);
  use(values_[spec.output].gradient, loss_group_);
  // The caller may look at it after the step.
  if (values_[spec.input].gradient != nullptr) {
    use(values_[spec.input].gradient, static_cast<int>(groups_.size()) - 1);
  }
  for (const std::vector<Stage>* stages : {&forward_, &backward_}) {
    const bool backward = stages == &backward_;
    for (const Stage& stage : *stages) {
      const PlanNode& node = *entries_[stage.entry].node;
      const auto elsewhere = backward ? PlanNode::During::kForward : PlanNode::During::kBackward;
      for (const PlanNode::Request& request : node.requests_) {
        if (request.during != elsewhere) use(request.buffer.get(), stage.group);
      }
      const bool anew = stage.kind == Stage::kAnew;
      const bool survey = stage.kind == Stage::kSurvey;
      if (backward && !anew) use(node.output->gradient, stage.group);
      if (anew || (!survey && (!backward || node.keeps_output))) {
        use(node.output->value, stage.group);
      }
      for (const PlanValue* input : node.inputs) {
        if (!backward || node.keeps_inputs) use(input->value, stage.group);
        if (backward && stage.kind == Stage::kPass) use(input->gradient, stage.group);
      }
    }
  }
}

void StepPlan::ShrinkBuffers() {
  const auto shrink = [&](PlanBuffer* buffer) {
    Group& first = groups_[buffer->first];
    Group& last = groups_[buffer->last];
    if (first.examples == 0 || last.examples == 0 || buffer->size >= kMostFloats) return;
    const int64_t examples = std::max(first.examples, last.examples);
    if (examples == batch_) return;
    buffer->example = buffer->size / batch_;
    buffer->size = examples * buffer->example;
    first.buffers.push_back(buffer);
    if (buffer->first != buffer->last) last.buffers.push_back(buffer);
  };
  for (const auto& buffer : buffers_) {
    if (buffer->first == buffer->last) shrink(buffer.get());
  }
  for (const Entry& entry : entries_) {
    if (entry.anew != nullptr) shrink(entry.anew->node->output->value);
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
    for (; end != stages.end() && end->group == begin->group; ++end) {
      if (end->op == nullptr || end->kind != Stage::kPass) continue;
      backward ? end->op->BeginBackward(step) : end->op->BeginForward(step);
    }
    const Group& group = groups_[begin->group];
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
    for (int64_t first = 0; first < batch_; first += group.examples) {
      const int64_t last = std::min(batch_, first + group.examples);
      for (PlanBuffer* buffer : group.buffers) {
        buffer->data = buffer->piece - first * buffer->example;
      }
      for (auto stage = begin; stage != end; ++stage) {
        begins(*stage);
        PiecewiseOp& op = *stage->op;
        if (stage->kind == Stage::kSurvey) {
          backward ? op.SurveyBackward(first, last) : op.SurveyForward(first, last);
        } else if (backward && stage->kind == Stage::kPass) {
          op.BackwardPiece(step, first, last);
        } else {
          op.ForwardPiece(step, first, last);
        }
      }
    }
    for (auto stage = begin; stage != end; ++stage) {
      if (backward && stage->kind == Stage::kPass) stage->op->EndBackward(step);
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
