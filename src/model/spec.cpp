#include "model/spec.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>

#include "base/bytes.h"
#include "base/product.h"
#include "model/json_text.h"
#include "model/keras_json.h"
#include "model/masks.h"
#include "model/model_inputs.h"

namespace hopper {

namespace {

constexpr int64_t kMaxFloats = int64_t{1} << 31;  // of one tensor, one weight, one model
constexpr size_t kMaxCalls = 10000;
constexpr int64_t kAlignment = 16;  // floats in 64 bytes

int64_t AlignUp(int64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// Runs a graph over shapes: emits nodes, tensors and weights.
class Builder {
 public:
  Builder(KerasModel* keras, ModelSpec* spec, std::vector<Problem>* problems)
      : keras_(keras),
        spec_(spec),
        problems_(problems),
        weights_(keras->layers.size()),
        masks_(spec, problems),
        own_layers_(static_cast<int>(keras->layers.size())) {}

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
    if (!Run(graph, inputs, false, &outputs)) return;
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
      spec_->input = AddTensor(spec_->inputs[0].shape);
      *tensors = {spec_->input};
      return true;
    }
    int64_t values = 0;
    for (const ModelInput& input : spec_->inputs) {
      values = SaturatingAdd(values, ElementCount(input.shape));
    }
    const Shape row{values};
    if (!CheckTensor(row, "all inputs of the model together")) return false;
    spec_->input = AddTensor(row);
    for (const ModelInput& input : spec_->inputs) {
      JsonDocument config;
      (*config.root())["name"] = input.name;
      (*config.root())["first"] = input.first;
      for (const int64_t size : input.shape) (*config.root())["shape"].push_back(size);
      const std::string fingerprint = std::to_string(input.first) + "\n" + ShapeText(input.shape);
      tensors->push_back(CallOwn("InputLayer", *config.root(), fingerprint, {spec_->input}));
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
      if (!masks_.OfTensor(tensors[i]).empty()) {
        Fail(ErrorCode::kNotSupported,
             "the output of model \"" + graph.name + "\" has a mask, which is not supported",
             "In Keras, loss and metrics then leave out what the mask leaves out.",
             "Let the model end with a layer that has no steps, such as an LSTM without "
             "return_sequences or a global pooling.");
        return false;
      }
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
    for (ModelOutput& output : spec_->outputs) output.final_activation = FinalActivation(output);
    spec_->output = tensors[0];
    if (tensors.size() == 1) {
      spec_->final_activation = spec_->outputs[0].final_activation;
      return true;
    }
    int64_t values = 0;
    std::vector<int> flat;
    for (ModelOutput& output : spec_->outputs) {
      output.first = values;
      values = SaturatingAdd(values, ElementCount(output.shape));
      if (!CheckTensor({values}, "all outputs of the model together")) return false;
      int tensor = output.tensor;
      if (output.shape.size() != 1) {
        JsonDocument config;
        (*config.root())["name"] = "outputs";
        tensor = CallOwn("Flatten", *config.root(), "outputs", {tensor});
        if (tensor < 0) return false;
      }
      flat.push_back(tensor);
    }
    JsonDocument config;
    (*config.root())["name"] = "outputs";
    spec_->output = CallOwn("Concatenate", *config.root(), "outputs", flat);
    return spec_->output >= 0;
  }

  // Ends the model at a layer and drops what does not lead there.
  bool EndAt(const std::string& name) {
    size_t last = spec_->nodes.size();
    std::vector<std::string> names;
    for (size_t i = 0; i < spec_->nodes.size(); ++i) {
      const std::string& own = keras_->layers[spec_->nodes[i].layer]->name();
      if (spec_->nodes[i].layer < own_layers_ &&
          std::find(names.begin(), names.end(), own) == names.end()) {
        names.push_back(own);
      }
      if (own == name && spec_->nodes[i].layer < own_layers_ && last == spec_->nodes.size()) {
        last = i;
      }
    }
    if (last == spec_->nodes.size()) {
      Fail(ErrorCode::kInvalidParameter,
           "model \"" + keras_->graph.name + "\" has no layer \"" + name + "\" that computes", "",
           NearestNameHint(name, names));
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

  // The output of a layer that no file names.
  int CallOwn(const char* class_name, const nlohmann::json& config, const std::string& fingerprint,
              const std::vector<int>& inputs) {
    LayerConfig layer_config(config, class_name, "model", keras_->family, problems_);
    GraphLayer layer;
    layer.layer = static_cast<int>(keras_->layers.size());
    keras_->layers.push_back(FindLayerType(class_name)->make(layer_config));
    keras_->fingerprints.push_back(std::string(class_name) + "\n" + fingerprint);
    weights_.emplace_back();
    Call call;
    call.inputs.resize(inputs.size());
    return CallLayer(layer, call, inputs, false);
  }

  bool CheckTensor(const Shape& shape, const std::string& what) {
    return CheckTensorShape(shape, what, problems_);
  }

  int AddTensor(const Shape& shape) {
    spec_->tensors.push_back(shape);
    masks_.AddTensor();
    return static_cast<int>(spec_->tensors.size()) - 1;
  }

  // One evaluation of a graph. `inputs` are tensor ids; an id of -1, here and in `outputs`,
  // stands for what cannot be known because of a problem that is recorded already. False: there
  // are no outputs.
  bool Run(const ModelGraph& graph, const std::vector<int>& inputs, bool inference,
           std::vector<int>* outputs) {
    if (!graph.valid) return false;
    if (inputs.size() != graph.inputs.size()) {
      Fail(ErrorCode::kInvalidParameter,
           "model \"" + graph.name + "\" has " + std::to_string(graph.inputs.size()) +
               " inputs but is called with " + std::to_string(inputs.size()));
      return false;
    }
    using Key = std::pair<int, int>;  // layer, call
    std::vector<std::vector<std::vector<int>>> values(graph.layers.size());
    std::vector<std::vector<int>> missing(graph.layers.size());
    std::vector<std::vector<std::vector<Key>>> readers(graph.layers.size());
    std::priority_queue<Key, std::vector<Key>, std::greater<Key>> ready;
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      const bool is_input = graph.layers[i].kind == GraphLayer::Kind::kInput;
      const size_t n = is_input ? 1 : graph.layers[i].calls.size();
      values[i].resize(n);
      readers[i].resize(n);
      missing[i].assign(n, 0);
    }
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      const GraphLayer& layer = graph.layers[i];
      if (layer.kind == GraphLayer::Kind::kInput) continue;
      if (layer.calls.empty()) {
        Fail(ErrorCode::kInvalidText, "layer \"" + layer.name + "\" is not connected",
             "It is " + layer.path + " of the architecture.");
      }
      for (size_t c = 0; c < layer.calls.size(); ++c) {
        const std::vector<TensorRef> refs = layer.calls[c].AllRefs();
        missing[i][c] = static_cast<int>(refs.size());
        for (const TensorRef& ref : refs) {
          readers[ref.layer][ref.call].push_back({static_cast<int>(i), static_cast<int>(c)});
        }
      }
    }
    const auto settle = [&](Key key) {
      for (Key reader : readers[key.first][key.second]) {
        if (--missing[reader.first][reader.second] == 0) ready.push(reader);
      }
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int at = graph.inputs[i].layer;
      if (!CheckInput(graph.layers[at], inputs[i], !values[at][0].empty())) return false;
      values[at][0] = {inputs[i]};
      settle({at, 0});
    }
    const auto value_of = [&](const TensorRef& ref) {
      const std::vector<int>& made = values[ref.layer][ref.call];
      if (made.empty()) return -1;
      if (ref.tensor < static_cast<int>(made.size())) return made[ref.tensor];
      Fail(ErrorCode::kInvalidText, "layer \"" + graph.layers[ref.layer].name +
                                        "\" has no output " + std::to_string(ref.tensor));
      return -1;
    };
    while (!ready.empty()) {
      const Key key = ready.top();
      ready.pop();
      if (++calls_ > kMaxCalls) {
        if (calls_ == kMaxCalls + 1) {
          Fail(ErrorCode::kLimitExceeded, "model calls its layers too often",
               "The limit is " + std::to_string(kMaxCalls) + " calls.");
        }
        return false;
      }
      const GraphLayer& layer = graph.layers[key.first];
      const Call& call = layer.calls[key.second];
      std::vector<int> arguments;
      for (const TensorRef& ref : call.AllRefs()) arguments.push_back(value_of(ref));
      std::vector<int>* made = &values[key.first][key.second];
      const bool frozen = inference || call.inference;
      if (layer.kind == GraphLayer::Kind::kMask) {
        *made = {masks_.Call(layer, call, arguments)};
      } else if (layer.kind == GraphLayer::Kind::kModel) {
        if (!CallModel(layer, call, arguments, frozen, made)) made->clear();
      } else {
        *made = {CallLayer(layer, call, arguments, frozen)};
      }
      settle(key);
    }
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      for (int open : missing[i]) {
        if (open == 0) continue;
        Fail(ErrorCode::kInvalidText,
             "layer \"" + graph.layers[i].name + "\" does not depend on the model's input alone",
             "It is part of a cycle, or an input is not among the model's inputs. It is " +
                 graph.layers[i].path + " of the architecture.",
             "Build the model with all its inputs: keras.Model(inputs=[a, b], outputs=y).");
        return false;
      }
    }
    outputs->clear();
    for (const TensorRef& ref : graph.outputs) outputs->push_back(value_of(ref));
    for (int output : *outputs) {
      if (output > Masks::kNothing) continue;
      Fail(ErrorCode::kNotSupported, "model \"" + graph.name + "\" returns a mask",
           "A mask can only be given to a layer.");
      return false;
    }
    return true;
  }

  // A nested model sees the masks that its call names. `arguments` are the call's inputs and masks.
  bool CallModel(const GraphLayer& layer, const Call& call, const std::vector<int>& arguments,
                 bool inference, std::vector<int>* outputs) {
    const auto n = static_cast<std::ptrdiff_t>(call.inputs.size());
    const std::vector<int> inputs(arguments.begin(), arguments.begin() + n);
    std::vector<std::pair<int, Mask>> before;
    bool taken = true;
    for (size_t i = 0; taken && i < call.masks.size(); ++i) {
      const auto to = static_cast<size_t>(call.masked[i]);
      const int id = arguments[call.inputs.size() + i];
      if (id == -1 || (to < inputs.size() && inputs[to] == -1)) continue;  // said already
      const Mask* mask = masks_.Find(id);
      taken = mask != nullptr && to < inputs.size() && inputs[to] >= 0;
      if (!taken) break;
      before.emplace_back(inputs[to], masks_.OfTensor(inputs[to]));
      masks_.SetTensor(inputs[to], *mask);
    }
    if (!taken) {
      Fail(ErrorCode::kNotSupported,
           "model \"" + layer.name + "\" is called with a mask that is not supported",
           "It is " + layer.path + " of the architecture.");
    }
    const bool run = taken && Run(*layer.model, inputs, inference, outputs);
    for (auto i = before.rbegin(); i != before.rend(); ++i) masks_.SetTensor(i->first, i->second);
    return run;
  }

  bool CheckInput(const GraphLayer& layer, int tensor, bool taken) {
    if (layer.kind != GraphLayer::Kind::kInput || taken) {
      Fail(ErrorCode::kInvalidText,
           "\"" + layer.name + "\" is not an input layer, or is an input twice",
           "It is " + layer.path + " of the architecture.");
      return false;
    }
    if (tensor < 0 || !layer.input_shape || Matches(*layer.input_shape, spec_->tensors[tensor])) {
      return true;
    }
    Fail(ErrorCode::kInvalidParameter,
         "input \"" + layer.name + "\" expects shape " + OpenShapeText(*layer.input_shape) +
             " but gets " + ShapeText(spec_->tensors[tensor]),
         "It is " + layer.path + " of the architecture.");
    return false;
  }

  // The id of the output, or -1. `arguments` are the call's inputs and masks.
  int CallLayer(const GraphLayer& at, const Call& call, const std::vector<int>& arguments,
                bool inference) {
    if (at.layer < 0) return -1;
    const size_t data = call.inputs.size();
    std::vector<Shape> shapes;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const int id = arguments[i];
      if (id == -1) return -1;
      if (i >= data) continue;
      if (id <= Masks::kNothing) {
        Fail(ErrorCode::kNotSupported,
             "layer \"" + at.name + "\" takes a mask for a tensor, which is not supported",
             "It is " + at.path + " of the architecture.");
        return -1;
      }
      shapes.push_back(spec_->tensors[id]);
    }
    const Layer& layer = *keras_->layers[at.layer];
    std::vector<Mask> masks;
    if (!masks_.OfCall(at, layer, call, arguments, &masks)) return -1;
    const std::string shown = "layer \"" + layer.name() + "\"";
    // Of layers the missing axes stand behind the batch, of operations before it.
    for (const Shape& shape : shapes) {
      if (!at.operation || shape.size() == shapes[0].size()) continue;
      Fail(ErrorCode::kNotSupported,
           "operation \"" + at.name + "\" of tensors of shapes " + ShapeText(shapes[0]) + " and " +
               ShapeText(shape) + " is not supported",
           "Where one has fewer axes, Keras takes the batch for another axis, as NumPy does. It "
           "is " +
               at.path + " of the architecture.",
           "Use the layer, for example keras.layers.Add()([x, y]), or Reshape.");
      return -1;
    }
    Shape output;
    std::vector<WeightSpec> weights;
    const size_t before = problems_->size();
    const auto fits = [&] {
      try {
        output = layer.OutputShape(shapes);
        if (!CheckTensor(output, "output of " + shown)) return false;
        weights = layer.Weights(shapes);
      } catch (const Error& error) {
        problems_->push_back(error.problem());
        return false;
      }
      return CheckWeights(weights, shown);
    };
    if (!fits()) {
      for (size_t i = before; i < problems_->size(); ++i) NamePlace(at, shapes, &(*problems_)[i]);
      return -1;
    }
    std::optional<std::vector<WeightSpec>>& known = weights_[at.layer];
    if (!known) {
      known = std::move(weights);
    } else if (!SameShapes(*known, weights)) {
      Fail(ErrorCode::kInvalidParameter,
           shown + " is called twice with inputs that need different weights",
           "It is " + at.path + " of the architecture.");
      return -1;
    }
    spec_->flops = SaturatingAdd(spec_->flops, layer.Flops(shapes, output));
    spec_->activation_floats =
        SaturatingAdd(spec_->activation_floats, layer.AutogradFloats(shapes, output));
    Node node;
    node.layer = at.layer;
    node.inputs.assign(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(data));
    node.inference = inference;
    node.form.data = data;
    node.form.causal = call.causal;
    if (layer.reads_masks()) {
      for (const Mask& mask : masks) {
        node.form.masks.push_back(Masks::OverInputs(mask, data, &node.inputs));
      }
    }
    // An operation knows nothing of masks, whatever the layer does that stands for it.
    const Mask made = at.operation ? Mask() : masks_.OfOutput(layer, arguments, masks);
    for (size_t i = 0; i < data && layer.masking() == Masking::kTakes; ++i) {
      masks_.SetTensor(arguments[i], {});
    }
    node.output = AddTensor(output);
    masks_.SetTensor(node.output, made);
    spec_->nodes.push_back(node);
    const RegularizerSpec& activity = layer.activity_regularizer();
    if (activity.l1 == 0.0 && activity.l2 == 0.0) return node.output;
    // A layer behind this one adds to the loss.
    JsonDocument config;
    (*config.root())["name"] = layer.name() + "/activity_regularizer";
    (*config.root())["l1"] = activity.l1;
    (*config.root())["l2"] = activity.l2;
    return CallOwn("ActivityRegularization", *config.root(), "", {node.output});
  }

  // Where in the file the layer of a problem is.
  static void NamePlace(const GraphLayer& at, const std::vector<Shape>& shapes, Problem* problem) {
    if (at.path.empty()) return;  // a layer of ours
    if (!problem->detail.empty()) problem->detail += ' ';
    problem->detail += "The layer is " + at.path + " of the architecture";
    for (size_t i = 0; i < shapes.size() && i < 3; ++i) {
      problem->detail += (i == 0 ? ", called with " : " and ") + ShapeText(shapes[i]);
    }
    problem->detail += shapes.size() > 3 ? " and more." : ".";
  }

  bool CheckWeights(const std::vector<WeightSpec>& weights, const std::string& shown) {
    for (const WeightSpec& weight : weights) {
      const std::string what = "weight \"" + weight.name + "\" of " + shown;
      if (!CheckTensor(weight.shape, what)) return false;
      const InitializerKind kind = weight.initializer.kind;
      if ((kind == InitializerKind::kOrthogonal && weight.shape.size() < 2) ||
          (kind == InitializerKind::kIdentity && weight.shape.size() != 2)) {
        Fail(ErrorCode::kInvalidParameter,
             what + " has shape " + ShapeText(weight.shape) + ", which its initializer cannot fill",
             "Orthogonal needs at least two axes, Identity exactly two.");
        return false;
      }
      const auto rank = static_cast<int64_t>(weight.shape.size());
      std::vector<char> taken(weight.shape.size(), 0);
      for (const int64_t axis : weight.constraint.axes) {
        const int64_t at = axis < 0 ? axis + rank : axis;
        if (at < 0 || at >= rank || taken[static_cast<size_t>(at)] != 0) {
          Fail(ErrorCode::kInvalidParameter, what + " has shape " + ShapeText(weight.shape) +
                                                 ", which axis " + std::to_string(axis) +
                                                 " of its constraint does not fit");
          return false;
        }
        taken[static_cast<size_t>(at)] = 1;
      }
    }
    return true;
  }

  static bool SameShapes(const std::vector<WeightSpec>& a, const std::vector<WeightSpec>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].shape != b[i].shape) return false;
    }
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
      for (WeightSpec& weight : *weights_[i]) {
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
  std::vector<std::optional<std::vector<WeightSpec>>> weights_;
  Masks masks_;
  const int own_layers_;  // those from it on are ours
  size_t calls_ = 0;
};

}  // namespace

namespace {

std::shared_ptr<const ModelSpec> Parse(std::string_view json, const std::vector<DataInput>* data,
                                       std::vector<Problem>* problems,
                                       const std::string* layer = nullptr) {
  std::vector<Problem> found;
  auto spec = std::make_shared<ModelSpec>();
  JsonDocument document;
  if (ParseJsonText(json, &document, &found)) {
    KerasModel keras;
    ReadKerasModel(document.root(), &keras, &found);
    if (!keras.graph.layers.empty()) Builder(&keras, spec.get(), &found).Build(data, layer);
  }
  problems->insert(problems->end(), found.begin(), found.end());
  return found.empty() ? spec : nullptr;
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

bool LeavesOutActivation(const ModelSpec& spec, uint64_t linear, int tensor) {
  if (linear == 0) return false;
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if ((linear >> i & 1) != 0 && spec.outputs[i].tensor == tensor) return true;
  }
  return false;
}

}  // namespace hopper
