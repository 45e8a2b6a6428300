#include "model/spec.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"
#include "base/product.h"
#include "model/graph/graph_builder.h"
#include "model/graph/model_inputs.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"
#include "model/keras/space_parameters.h"
#include "model/model_text.h"
#include "model_hopper/limits.h"

namespace hopper {

namespace {

constexpr int64_t kMaxFloats = int64_t{1} << 31;  // of one tensor, one weight, one model
constexpr int64_t kAlignment = 16;                // floats in 64 bytes

int64_t AlignUp(int64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// A model of what its graph yields: inputs, outputs, offsets of the weights, the hash.
class Builder {
 public:
  Builder(KerasModel* keras, ModelSpec* spec, std::vector<Problem>* problems)
      : keras_(keras), spec_(spec), problems_(problems), graph_(keras, spec, problems) {}

  // `layer`: where the model ends; null: where it says.
  void Build(const std::vector<DataInput>* data, const std::string* layer) {
    const ModelGraph& graph = keras_->graph;
    if (!graph.valid) return;
    if (graph.outputs.empty() || graph.outputs.size() > HOPPER_MAX_OUTPUTS) {
      return Fail(
          ErrorCode::kLimitExceeded,
          "model \"" + graph.name + "\" has " + std::to_string(graph.outputs.size()) + " outputs",
          "From 1 to " + std::to_string(HOPPER_MAX_OUTPUTS) + " are possible.");
    }
    std::vector<int> inputs;
    if (!TakeInputs(graph, data, &inputs)) return;
    std::vector<int> outputs;
    if (!graph_.Run(graph, inputs, false, &outputs)) return;
    for (const int output : outputs) {
      if (output < 0) return;
    }
    if (layer != nullptr) {
      if (!problems_->empty() || !EndAt(*layer)) return;
    } else if (!TakeOutputs(graph, outputs)) {
      return;
    }
    if (spec_->nodes.empty()) {
      return Fail(ErrorCode::kInvalidParameter, "model \"" + graph.name + "\" has no layers", "",
                  "");
    }
    if (problems_->empty()) Finish();
  }

 private:
  void Fail(ErrorCode code, const std::string& message, const std::string& detail = "",
            const std::string& hint = "") {
    problems_->push_back({code, message, detail, hint});
  }

  // Tensors of the model's inputs. Several are parts of one, each taken out of it by a layer.
  bool TakeInputs(const ModelGraph& graph, const std::vector<DataInput>* data,
                  std::vector<int>* tensors) {
    if (!FindModelInputs(graph, data, problems_, &spec_->inputs)) return false;
    if (spec_->inputs.size() == 1) {
      spec_->input = graph_.AddTensor(spec_->inputs[0].shape);
      *tensors = {spec_->input};
      return true;
    }
    int64_t values = 0;
    for (const ModelInput& input : spec_->inputs) {
      values = SaturatingAdd(values, ElementCount(input.shape));
    }
    const Shape row{values};
    if (!CheckTensorShape(row, "all inputs of the model together", problems_)) return false;
    spec_->input = graph_.AddTensor(row);
    for (const ModelInput& input : spec_->inputs) {
      JsonDocument config;
      (*config.root())["name"] = input.name;
      (*config.root())["first"] = input.first;
      for (const int64_t size : input.shape) (*config.root())["shape"].push_back(size);
      const std::string fingerprint = std::to_string(input.first) + "\n" + ShapeText(input.shape);
      tensors->push_back(graph_.CallOwn("InputLayer", *config.root(), fingerprint, {spec_->input}));
      if (tensors->back() < 0) return false;
    }
    return true;
  }

  // The model's outputs. Several are made flat and joined by layers of our own.
  bool TakeOutputs(const ModelGraph& graph, const std::vector<int>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      ModelOutput made;
      made.name = i < graph.output_names.size() ? graph.output_names[i]
                                                : graph.layers[graph.outputs[i].layer].name;
      made.tensor = tensors[i];
      made.shape = spec_->tensors[tensors[i]];
      for (const ModelOutput& other : spec_->outputs) {
        if (other.name != made.name) continue;
        Fail(ErrorCode::kNotSupported,
             "model \"" + graph.name + "\" has two outputs named \"" + made.name + "\"",
             "Outputs have the names of the layers that make them.",
             "Put a layer with a name of its own behind one of them, such as Identity.");
        return false;
      }
      spec_->outputs.push_back(std::move(made));
    }
    // The activations that end them, before layers of our own read them.
    for (ModelOutput& output : spec_->outputs) {
      output.final_activation = FinalActivation(output);
      output.ends_in = EndsIn(output.tensor);
    }
    spec_->output = tensors[0];
    if (tensors.size() == 1) spec_->final_activation = spec_->outputs[0].final_activation;
    std::vector<Mask> masks;
    bool masked = false;
    for (const int tensor : tensors) {
      masks.push_back(graph_.TakeMask(tensor));
      masked = masked || !masks.back().empty();
    }
    std::vector<int> averaged;
    bool ensembles = false;
    for (ModelOutput& output : spec_->outputs) {
      averaged.push_back(FindMembers(&output));
      ensembles = ensembles || output.members > 0;
    }
    if (tensors.size() == 1 && !masked && !ensembles) return true;
    return JoinOutputs(graph, masks, averaged);
  }

  // What the output averages members of, or -1.
  int FindMembers(ModelOutput* output) const {
    for (const Node& node : spec_->nodes) {
      if (node.output != output->tensor) continue;
      const ActivationSpec* activation = keras_->layers[node.layer]->OfMembers();
      if (activation == nullptr) return -1;
      output->members = spec_->tensors[node.inputs[0]][0];
      output->member_activation = activation->kind;
      return node.inputs[0];
    }
    return -1;
  }

  // A tensor as a row of values, by a layer of ours; -1 where there is a problem.
  int Flat(int tensor) {
    if (spec_->tensors[tensor].size() == 1) return tensor;
    JsonDocument config;
    (*config.root())["name"] = "outputs";
    return graph_.CallOwn("Flatten", *config.root(), "outputs", {tensor});
  }

  // One row of the outputs' values, of their masks, and of the members that they average.
  bool JoinOutputs(const ModelGraph& graph, const std::vector<Mask>& masks,
                   const std::vector<int>& averaged) {
    int64_t values = 0;
    std::vector<int> flat;
    for (ModelOutput& output : spec_->outputs) {
      output.first = values;
      values = SaturatingAdd(values, ElementCount(output.shape));
      if (!CheckTensorShape({values}, "all outputs of the model together", problems_)) return false;
      const int tensor = Flat(output.tensor);
      if (tensor < 0) return false;
      flat.push_back(tensor);
    }
    for (size_t i = 0; i < masks.size(); ++i) {
      ModelOutput& output = spec_->outputs[i];
      const Mask& mask = masks[i];
      if (mask.empty()) continue;
      const int tensor =
          graph_.masks().HasMaskShape(mask, output.shape) ? graph_.MaskTensor("outputs", mask) : -1;
      if (tensor < 0) {
        Fail(ErrorCode::kNotSupported,
             "the mask of the output of model \"" + graph.name + "\" is not supported",
             "It is made of several series, one behind the other, or is not one of the output's "
             "steps.",
             "Let the model end with a layer that has no steps, such as an LSTM without "
             "return_sequences or a global pooling.");
        return false;
      }
      output.mask_first = values;
      output.mask_size = spec_->tensors[tensor][0];
      values = SaturatingAdd(values, output.mask_size);
      if (!CheckTensorShape({values}, "all outputs of the model together", problems_)) return false;
      flat.push_back(tensor);
    }
    for (size_t i = 0; i < averaged.size(); ++i) {
      if (averaged[i] < 0) continue;
      spec_->outputs[i].members_first = values;
      values = SaturatingAdd(values, ElementCount(spec_->tensors[averaged[i]]));
      if (!CheckTensorShape({values}, "all outputs of the model together", problems_)) return false;
      const int tensor = Flat(averaged[i]);
      if (tensor < 0) return false;
      flat.push_back(tensor);
    }
    JsonDocument config;
    (*config.root())["name"] = "outputs";
    spec_->output = graph_.CallOwn("Concatenate", *config.root(), "outputs", flat);
    return spec_->output >= 0;
  }

  // What is there in place of a layer.
  static std::string HintOfLayers(const std::string& name, const std::vector<std::string>& names) {
    constexpr size_t kShown = 20;
    std::string hint = NearestNameHint(name, names);
    if (!hint.empty() || names.empty()) return hint;
    for (size_t i = 0; i < names.size() && i < kShown; ++i) {
      hint += (i == 0 ? "Name one of its layers: \"" : ", \"") + names[i] + "\"";
    }
    return hint + (names.size() > kShown ? " and others." : ".");
  }

  // Ends the model at a layer and drops what does not lead there.
  bool EndAt(const std::string& name) {
    size_t last = spec_->nodes.size();
    std::vector<std::string> names;
    for (size_t i = 0; i < spec_->nodes.size(); ++i) {
      const std::string& own = keras_->layers[spec_->nodes[i].layer]->name();
      if (graph_.IsNamed(spec_->nodes[i].layer) &&
          std::find(names.begin(), names.end(), own) == names.end()) {
        names.push_back(own);
      }
      if (own == name && graph_.IsNamed(spec_->nodes[i].layer) && last == spec_->nodes.size()) {
        last = i;
      }
    }
    if (last == spec_->nodes.size()) {
      Fail(ErrorCode::kInvalidParameter,
           "model \"" + keras_->graph.name + "\" has no layer \"" + name + "\" that computes", "",
           HintOfLayers(name, names));
      return false;
    }
    std::vector<bool> wanted(spec_->tensors.size(), false);
    ModelOutput output;
    output.name = name;
    output.tensor = spec_->output = spec_->nodes[last].output;
    output.shape = spec_->tensors[output.tensor];
    wanted[static_cast<size_t>(output.tensor)] = true;
    std::vector<Node> nodes;
    for (size_t i = last + 1; i-- > 0;) {
      Node& node = spec_->nodes[i];
      if (!wanted[static_cast<size_t>(node.output)]) continue;
      for (const int input : node.inputs) wanted[static_cast<size_t>(input)] = true;
      nodes.push_back(std::move(node));
    }
    std::reverse(nodes.begin(), nodes.end());
    spec_->nodes = std::move(nodes);
    spec_->outputs.push_back(std::move(output));
    return true;
  }

  // Offsets, counts and the hash, when all is known.
  void Finish() {
    spec_->name = keras_->graph.name;
    spec_->family = keras_->family;
    std::move(keras_->warnings.begin(), keras_->warnings.end(),
              std::back_inserter(spec_->warnings));
    spec_->layer_weights.resize(keras_->layers.size());
    for (size_t i = 0; i < keras_->layers.size(); ++i) {
      for (WeightSpec& weight : graph_.weights(i)) {
        spec_->layer_weights[i].push_back(static_cast<int>(spec_->weights.size()));
        AddWeight(static_cast<int>(i), std::move(weight));
      }
    }
    if (spec_->parameters >= kMaxFloats) {
      return Fail(
          ErrorCode::kLimitExceeded,
          "model \"" + spec_->name + "\" has " + std::to_string(spec_->parameters) + " parameters",
          "The limit is 2147483647.");
    }
    for (const Shape& tensor : spec_->tensors) {
      spec_->activation_floats = SaturatingAdd(spec_->activation_floats, ElementCount(tensor));
    }
    std::move(keras_->layers.begin(), keras_->layers.end(), std::back_inserter(spec_->layers));
    spec_->hash = HashOf();
    spec_->fingerprints = std::move(keras_->fingerprints);
  }

  void AddWeight(int layer, WeightSpec weight) {
    const bool trainable = weight.trainable && keras_->layers[layer]->trainable();
    const int64_t size = weight.size();
    weight.name = keras_->layers[layer]->name() + "/" + weight.name;
    weight.layer = layer;
    weight.trainable = trainable;
    weight.offset = spec_->flat_size;
    spec_->flat_size += AlignUp(size);
    spec_->parameters += size;
    weight.slot_offset = -1;
    if (trainable) {
      weight.slot_offset = spec_->slot_size;
      spec_->slot_size += AlignUp(size);
      spec_->trainable_parameters += size;
    }
    spec_->weights.push_back(std::move(weight));
  }

  // A loss may take an output's logits only where nothing else reads it.
  Activation FinalActivation(const ModelOutput& output) const {
    Activation last = Activation::kLinear;
    for (const Node& node : spec_->nodes) {
      for (int input : node.inputs) {
        if (input == output.tensor) return Activation::kLinear;
      }
      if (node.output == output.tensor) last = keras_->layers[node.layer]->FinalActivation();
    }
    const auto same = [&](const ModelOutput& other) { return other.tensor == output.tensor; };
    const bool shared = std::count_if(spec_->outputs.begin(), spec_->outputs.end(), same) > 1;
    const bool logits = last == Activation::kSoftmax || last == Activation::kSigmoid;
    return logits && !shared ? last : Activation::kLinear;
  }

  Activation EndsIn(int tensor) const {
    bool rows = true;
    for (size_t i = spec_->nodes.size(); i-- > 0;) {
      const Node& node = spec_->nodes[i];
      if (node.output != tensor) continue;
      const Layer& layer = *keras_->layers[node.layer];
      const Activation last = layer.FinalActivation();
      // Torn rows of softmax are probabilities, which add up to nothing.
      if (last != Activation::kLinear) return rows ? last : Activation::kSigmoid;
      // Means of rows of softmax are such.
      const ActivationSpec* of_members = layer.OfMembers();
      if (of_members != nullptr && of_members->kind != Activation::kLinear) {
        return rows ? of_members->kind : Activation::kSigmoid;
      }
      tensor = node.inputs[0];
      if (of_members != nullptr) continue;
      const Passes passes = layer.PassesOn(spec_->tensors[tensor]);
      if (passes == Passes::kNothing) return Activation::kLinear;
      rows = rows && passes == Passes::kRows;
    }
    return Activation::kLinear;
  }

  Digest HashOf() const {
    ByteWriter out;
    out.PutString("hopper architecture 1");
    const auto put_shape = [&](const Shape& shape) {
      out.Put<uint32_t>(static_cast<uint32_t>(shape.size()));
      for (int64_t size : shape) out.Put<int64_t>(size);
    };
    put_shape(spec_->input_shape());
    for (const std::string& fingerprint : keras_->fingerprints) out.PutString(fingerprint);
    for (const Node& node : spec_->nodes) {
      out.Put<int32_t>(node.layer);
      out.Put<int32_t>(node.inference ? 1 : 0);
      out.Put<int32_t>(static_cast<int32_t>(node.inputs.size()));
      for (int input : node.inputs) out.Put<int32_t>(input);
      PutForm(node.form, &out);
      out.Put<int32_t>(node.output);
    }
    out.Put<int32_t>(spec_->output);
    for (const WeightSpec& weight : spec_->weights) {
      out.Put<int32_t>(weight.layer);
      out.Put<int32_t>(weight.trainable ? 1 : 0);
      put_shape(weight.shape);
    }
    return Hash(out.data(), out.size());
  }

  KerasModel* keras_;
  ModelSpec* spec_;
  std::vector<Problem>* problems_;
  GraphBuilder graph_;
};

}  // namespace

namespace {

ModelReading Read(std::string_view json, const std::vector<DataInput>* data,
                  const std::string* layer) {
  ModelReading reading;
  auto spec = std::make_shared<ModelSpec>();
  JsonDocument document;
  if (ParseJsonText(json, &document, &reading.problems) &&
      !(json.find("\"hopper\"") != std::string_view::npos &&
        RefuseSpaceParameters(*document.root(), &reading.problems))) {
    KerasModel keras;
    ReadKerasModel(document.root(), &keras, &reading.problems);
    if (!keras.graph.layers.empty()) {
      Builder(&keras, spec.get(), &reading.problems).Build(data, layer);
    }
  }
  if (reading.problems.empty()) reading.spec = std::move(spec);
  return reading;
}

std::shared_ptr<const ModelSpec> Parse(std::string_view json, const std::vector<DataInput>* data,
                                       std::vector<Problem>* problems,
                                       const std::string* layer = nullptr) {
  const auto keep = [&](const ModelReading& reading) {
    problems->insert(problems->end(), reading.problems.begin(), reading.problems.end());
    return reading.spec;
  };
  const auto read = [&] { return Read(json, data, layer); };
  // Not even a copy of what is not kept.
  if (static_cast<int64_t>(json.size()) > Readings::kBytes) return keep(read());
  return keep(*ProcessReadings().models.Of(TextOfModel(json, data, layer), read, SizeOfModel));
}

std::shared_ptr<const ModelSpec> ParseOrThrow(std::string_view json,
                                              const std::vector<DataInput>* data,
                                              const std::string* layer = nullptr) {
  std::vector<Problem> problems;
  auto spec = Parse(json, data, &problems, layer);
  if (spec == nullptr) throw Error(SummaryOf(problems));
  return spec;
}

std::vector<DataInput> OneInput(const Shape& shape) {
  DataInput input;
  input.shape = shape;
  return {input};
}

}  // namespace

std::shared_ptr<const ModelSpec> ParseModel(std::string_view json, const Shape* data_shape,
                                            std::vector<Problem>* problems) {
  if (data_shape == nullptr) return Parse(json, nullptr, problems);
  const std::vector<DataInput> data = OneInput(*data_shape);
  return Parse(json, &data, problems);
}

std::shared_ptr<const ModelSpec> ParseModel(std::string_view json, const Shape* data_shape) {
  if (data_shape == nullptr) return ParseOrThrow(json, nullptr);
  const std::vector<DataInput> data = OneInput(*data_shape);
  return ParseOrThrow(json, &data);
}

std::shared_ptr<const ModelSpec> ParseModelFor(std::string_view json,
                                               const std::vector<DataInput>& inputs,
                                               std::vector<Problem>* problems) {
  return Parse(json, &inputs, problems);
}

std::shared_ptr<const ModelSpec> ParseModelFor(std::string_view json,
                                               const std::vector<DataInput>& inputs) {
  return ParseOrThrow(json, &inputs);
}

std::shared_ptr<const ModelSpec> ParseModelUpTo(std::string_view json,
                                                const std::vector<DataInput>& inputs,
                                                std::string_view layer) {
  const std::string name(layer);
  return ParseOrThrow(json, &inputs, &name);
}

std::vector<std::string> ModelSpec::OutputNames() const {
  std::vector<std::string> names;
  for (const ModelOutput& output : outputs) names.push_back(output.name);
  return names;
}

int64_t ModelSpec::OutputValues() const {
  int64_t values = 0;
  for (const ModelOutput& made : outputs) values = SaturatingAdd(values, ElementCount(made.shape));
  return values;
}

bool LeavesOutActivation(const ModelSpec& spec, uint64_t linear, int tensor) {
  if (linear == 0) return false;
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if ((linear >> i & 1) != 0 && spec.outputs[i].tensor == tensor) return true;
  }
  return false;
}

}  // namespace hopper
