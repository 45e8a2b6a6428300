#include "model/spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>

#include "base/bytes.h"
#include "base/product.h"
#include "model/json_text.h"
#include "model/keras_json.h"
#include "model_hopper/data.h"

namespace hopper {

namespace {

constexpr int64_t kMaxFloats = int64_t{1} << 31;  // of one tensor, one weight, one model
constexpr size_t kMaxCalls = 10000;
constexpr int64_t kAlignment = 16;  // floats in 64 bytes

int64_t AlignUp(int64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// As ShapeText, with "?" for open axes.
std::string OpenShapeText(const Shape& shape) {
  std::string text;
  for (int64_t size : shape) {
    if (!text.empty()) text += 'x';
    text += size < 0 ? "?" : std::to_string(size);
  }
  return text.empty() ? "scalar" : text;
}

// True where `shape` could be what `stated` (with -1 for open axes) means.
bool Matches(const Shape& stated, const Shape& shape) {
  if (stated.size() != shape.size()) return false;
  for (size_t i = 0; i < stated.size(); ++i) {
    if (stated[i] >= 0 && stated[i] != shape[i]) return false;
  }
  return true;
}

// Runs a graph over shapes: emits nodes, tensors and weights.
class Builder {
 public:
  Builder(KerasModel* keras, ModelSpec* spec, std::vector<Problem>* problems)
      : keras_(keras), spec_(spec), problems_(problems), weights_(keras->layers.size()) {}

  void Build(const std::vector<DataInput>* data) {
    const ModelGraph& graph = keras_->graph;
    if (!graph.valid) return;
    if (graph.outputs.size() != 1) {
      return Fail(
          ErrorCode::kNotSupported,
          "model \"" + graph.name + "\" has " + std::to_string(graph.outputs.size()) + " outputs",
          "A packed table has one column of labels.", "Build the model with one output.");
    }
    std::vector<int> inputs;
    if (!TakeInputs(graph, data, &inputs)) return;
    std::vector<int> outputs;
    if (!Run(graph, inputs, false, &outputs) || outputs[0] < 0) return;
    spec_->output = outputs[0];
    if (!tensor_masks_[spec_->output].empty()) {
      return Fail(ErrorCode::kNotSupported,
                  "the output of model \"" + graph.name + "\" has a mask, which is not supported",
                  "In Keras, loss and metrics then leave out what the mask leaves out.",
                  "Let the model end with a layer that has no steps, such as an LSTM without "
                  "return_sequences or a global pooling.");
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
    const size_t n = graph.inputs.size();
    if (n != 1 && n > HOPPER_MAX_INPUTS) {
      Fail(ErrorCode::kLimitExceeded,
           "model \"" + graph.name + "\" has " + std::to_string(n) + " inputs",
           "The limit is " + std::to_string(HOPPER_MAX_INPUTS) + ".");
      return false;
    }
    std::vector<const DataInput*> found(n, nullptr);
    if (data != nullptr && !FindInputs(graph, *data, &found)) return false;
    for (size_t i = 0; i < n; ++i) {
      const GraphLayer& input = graph.layers[graph.inputs[i].layer];
      ModelInput made;
      made.name = input.name;
      if (!InputShape(graph, input, found[i] != nullptr ? &found[i]->shape : nullptr,
                      &made.shape)) {
        return false;
      }
      spec_->inputs.push_back(std::move(made));
    }
    if (n == 1) {
      spec_->input = AddTensor(spec_->inputs[0].shape);
      *tensors = {spec_->input};
      return true;
    }
    return TakeParts(data, found, tensors);
  }

  // Which input of the data is which of the model's.
  bool FindInputs(const ModelGraph& graph, const std::vector<DataInput>& data,
                  std::vector<const DataInput*>* found) {
    if (graph.inputs.size() == 1 && data.size() == 1) {
      (*found)[0] = data.data();
      return true;
    }
    bool all = graph.inputs.size() == data.size();
    std::string wanted, held;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const std::string& name = graph.layers[graph.inputs[i].layer].name;
      wanted += (i > 0 ? ", \"" : "\"") + name + "\"";
      for (const DataInput& input : data) {
        if (input.name == name) (*found)[i] = &input;
      }
      all = all && (*found)[i] != nullptr;
    }
    for (const DataInput& input : data) {
      held += (held.empty() ? "\"" : ", \"") + input.name + "\"";
    }
    if (all) return true;
    const bool one = data.size() == 1;
    Fail(ErrorCode::kInvalidParameter,
         "model \"" + graph.name + "\" has the " +
             (graph.inputs.size() == 1 ? "input " : "inputs ") + wanted + " but the data have " +
             (one ? "one input without a name" : held),
         "Inputs are found by their names.",
         graph.inputs.size() == 1
             ? "Build the model with these inputs, or pack one column or a list of numbers."
             : "Name them when packing: independent_varname => '{\"" +
                   graph.layers[graph.inputs[0].layer].name + "\": [\"column\", ...], ...}'.");
    return false;
  }

  bool TakeParts(const std::vector<DataInput>* data, const std::vector<const DataInput*>& found,
                 std::vector<int>* tensors) {
    int64_t values = 0;
    if (data == nullptr) {
      for (ModelInput& input : spec_->inputs) {
        input.first = values;
        values = SaturatingAdd(values, ElementCount(input.shape));
      }
    } else {
      for (const DataInput& part : *data) {
        for (size_t i = 0; i < found.size(); ++i) {
          if (found[i] != &part) continue;
          ModelInput& input = spec_->inputs[i];
          input.first = values;
          const Shape& held = part.shape;
          if (ElementCount(held) != ElementCount(input.shape)) {
            Fail(ErrorCode::kInvalidParameter, "input \"" + input.name + "\" expects shape " +
                                                   ShapeText(input.shape) +
                                                   " but the data have shape " + ShapeText(held));
            return false;
          }
        }
        values = SaturatingAdd(values, ElementCount(part.shape));
      }
    }
    const Shape row{values};
    if (!CheckTensor(row, "all inputs of the model together")) return false;
    spec_->input = AddTensor(row);
    for (const ModelInput& input : spec_->inputs) {
      JsonDocument config;
      (*config.root())["name"] = input.name;
      (*config.root())["first"] = input.first;
      for (const int64_t size : input.shape) (*config.root())["shape"].push_back(size);
      LayerConfig layer_config(*config.root(), "InputLayer", "inputs", keras_->family, problems_);
      GraphLayer part;
      part.layer = static_cast<int>(keras_->layers.size());
      keras_->layers.push_back(FindLayerType("InputLayer")->make(layer_config));
      keras_->fingerprints.push_back("InputLayer\n" + std::to_string(input.first) + "\n" +
                                     ShapeText(input.shape));
      weights_.emplace_back();
      Call call;
      call.inputs.emplace_back();
      tensors->push_back(CallLayer(part, call, {spec_->input}, false));
      if (tensors->back() < 0) return false;
    }
    return true;
  }

  // What the file states, filled up by the data where it leaves something open.
  bool InputShape(const ModelGraph& graph, const GraphLayer& input, const Shape* data_shape,
                  Shape* shape) {
    const bool stated = input.input_shape.has_value();
    const bool complete =
        stated && std::all_of(input.input_shape->begin(), input.input_shape->end(),
                              [](int64_t size) { return size >= 0; });
    if (complete) {
      *shape = *input.input_shape;
    } else if (data_shape == nullptr) {
      // No problem where there are others: data mend it.
      if (!problems_->empty()) return false;
      Fail(ErrorCode::kNotReady,
           stated ? "model \"" + graph.name +
                        "\" leaves its input shape open: " + OpenShapeText(*input.input_shape)
                  : "model \"" + graph.name + "\" does not state its input shape",
           "The shape is known when the model meets its data.",
           "Start the model with an Input layer of a fixed shape; describe_model() takes one from "
           "packed_table, too.");
      return false;
    } else {
      *shape = *data_shape;
      if (stated && !Matches(*input.input_shape, *shape)) {
        // Grey images may be packed without the axis of channels.
        shape->push_back(1);
        if (!Matches(*input.input_shape, *shape)) {
          Fail(ErrorCode::kInvalidParameter,
               "model expects input of shape " + OpenShapeText(*input.input_shape) +
                   " but the data have shape " + ShapeText(*data_shape),
               "", "Reshape when packing, or start the model with Reshape.");
          return false;
        }
      }
    }
    if (shape->empty()) {
      Fail(ErrorCode::kInvalidParameter, "model \"" + graph.name + "\" has an input without axes",
           "The first axis of a batch_shape or batch_input_shape is the batch's.",
           "Write [null, 4] for four features, for example.");
      return false;
    }
    return CheckTensor(*shape, "input of model \"" + graph.name + "\"");
  }

  bool CheckTensor(const Shape& shape, const std::string& what) {
    if (shape.size() > HOPPER_MAX_RANK) {
      Fail(ErrorCode::kLimitExceeded, what + " has " + std::to_string(shape.size()) + " axes",
           "The limit is " + std::to_string(HOPPER_MAX_RANK) + ".");
      return false;
    }
    for (int64_t size : shape) {
      if (size >= 1) continue;
      Fail(ErrorCode::kInvalidParameter, what + " is empty: its shape is " + ShapeText(shape));
      return false;
    }
    if (ElementCount(shape) >= kMaxFloats) {
      Fail(ErrorCode::kLimitExceeded, what + " is too large: its shape is " + ShapeText(shape),
           "The limit is 2147483647 values.");
      return false;
    }
    return true;
  }

  int AddTensor(const Shape& shape) {
    spec_->tensors.push_back(shape);
    tensor_masks_.emplace_back();
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
        *made = {CallMask(layer, call, arguments)};
      } else if (layer.kind == GraphLayer::Kind::kModel) {
        if (!Run(*layer.model, arguments, frozen, made)) made->clear();
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
             "It is part of a cycle, or an input is not among the model's inputs, at " +
                 graph.layers[i].path + ".");
        return false;
      }
    }
    outputs->clear();
    for (const TensorRef& ref : graph.outputs) outputs->push_back(value_of(ref));
    for (int output : *outputs) {
      if (output > kNothing) continue;
      Fail(ErrorCode::kNotSupported, "model \"" + graph.name + "\" returns a mask",
           "A mask can only be given to a layer.");
      return false;
    }
    return true;
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

  // A mask stands for a tensor by an id of kNothing or less.
  static constexpr int kNothing = -2;
  int AddMask(Mask mask) {
    masks_.push_back(std::move(mask));
    return kNothing - static_cast<int>(masks_.size() - 1);
  }
  const Mask& MaskOf(int id) const { return masks_[static_cast<size_t>(kNothing - id)]; }

  // Of masks over the same tensors: a, or b, or both of them by `kind`.
  static Mask Combine(const Mask& a, const Mask& b, MaskStep::Kind kind) {
    if (a.empty()) return b;
    if (b.empty() || SameMask(a, b)) return a;
    Mask both = a;
    both.insert(both.end(), b.begin(), b.end());
    both.push_back({kind, 0, 0.0});
    return both;
  }
  static bool SameMask(const Mask& a, const Mask& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const MaskStep& x, const MaskStep& y) {
                        return x.kind == y.kind && x.input == y.input && x.value == y.value;
                      });
  }

  // The id of the mask that an operation makes, or -1.
  int CallMask(const GraphLayer& at, const Call& call, const std::vector<int>& inputs) {
    for (int id : inputs) {
      if (id == -1) return -1;
    }
    const auto is_mask = [](int id) { return id <= kNothing; };
    const bool all_masks = std::all_of(inputs.begin(), inputs.end(), is_mask);
    const size_t n = inputs.size();
    switch (at.mask) {
      case MaskOperation::kSame:
        if (n == 1 && all_masks) return inputs[0];
        break;
      case MaskOperation::kNotEqual:
        if (n == 1 && !all_masks && call.constants.size() == 1) {
          return AddMask({{MaskStep::Kind::kNotEqual, inputs[0], call.constants[0]}});
        }
        break;
      case MaskOperation::kAny:
        if (n == 1 && all_masks && MaskOf(inputs[0]).size() == 1) {
          Mask mask = MaskOf(inputs[0]);
          mask[0].kind = MaskStep::Kind::kAnyNotEqual;
          return AddMask(mask);
        }
        break;
      case MaskOperation::kOther:
        break;
      default:
        if (n == 2 && all_masks) {
          return AddMask(
              Combine(MaskOf(inputs[0]), MaskOf(inputs[1]),
                      at.mask == MaskOperation::kAnd ? MaskStep::Kind::kAnd : MaskStep::Kind::kOr));
        }
        break;
    }
    Fail(ErrorCode::kNotSupported,
         "layer \"" + at.name + "\" makes a mask in a way that is not supported",
         "It is " + at.path + " of the architecture.",
         "Masks are made by Masking, by Embedding with mask_zero, or as x != number.");
    return -1;
  }

  // The mask's tensors as inputs of the node, behind those that it has.
  static Mask OverInputs(Mask mask, size_t data, std::vector<int>* inputs) {
    for (MaskStep& step : mask) {
      if (step.kind == MaskStep::Kind::kAnd || step.kind == MaskStep::Kind::kOr) continue;
      const auto behind = inputs->begin() + static_cast<std::ptrdiff_t>(data);
      const auto found = std::find(behind, inputs->end(), step.input);
      const int tensor = step.input;
      step.input = static_cast<int>(found - inputs->begin());
      if (found == inputs->end()) inputs->push_back(tensor);
    }
    return mask;
  }

  bool HasMaskShape(const Mask& mask, const Shape& shape) const {
    return std::all_of(mask.begin(), mask.end(), [&](const MaskStep& step) {
      if (step.kind == MaskStep::Kind::kAnd || step.kind == MaskStep::Kind::kOr) return true;
      Shape steps = spec_->tensors[step.input];
      if (step.kind == MaskStep::Kind::kAnyNotEqual) steps.pop_back();
      return steps.size() == 1 && shape.size() >= 2 && steps[0] == shape[0];
    });
  }

  // Masks of the inputs of a call: what is said there, else what the tensors carry. False, with a
  // problem, where the layer cannot take them.
  bool MasksOf(const GraphLayer& at, const Call& call, const std::vector<int>& inputs, size_t data,
               std::vector<Mask>* masks) {
    const Layer& layer = *keras_->layers[at.layer];
    bool any = false;
    for (size_t i = 0; i < data; ++i) {
      masks->push_back(tensor_masks_[inputs[i]]);
      any |= !masks->back().empty();
    }
    for (size_t i = 0; i < call.masks.size(); ++i) {
      const auto to = static_cast<size_t>(call.masked[i]);
      const int id = inputs[data + i];
      const bool takes = layer.reads_masks() || layer.masking() == Masking::kCannot ||
                         layer.masking() == Masking::kCarries || layer.masking() == Masking::kTakes;
      if (id > kNothing || to >= data || !takes) {
        Fail(ErrorCode::kNotSupported,
             "layer \"" + layer.name() +
                 "\" is called with argument \"mask\", which is not supported",
             "The layer is " + at.path + " of the architecture.");
        return false;
      }
      (*masks)[to] = MaskOf(id);
      any = true;
    }
    if (!any) {
      masks->clear();
      return true;
    }
    bool fits = layer.masking() != Masking::kCannot;
    for (size_t i = 0; fits && i < data; ++i) {
      fits = layer.masking() == Masking::kLoses ||
             HasMaskShape((*masks)[i], spec_->tensors[inputs[i]]);
    }
    if (fits) return true;
    Fail(ErrorCode::kNotSupported,
         "layer \"" + layer.name() + "\" of class " + layer.class_name() +
             ": a mask of its input is not supported",
         "The layer is " + at.path + " of the architecture.",
         "Put it behind a layer that ends the mask, or leave mask_zero and Masking out.");
    return false;
  }

  // What becomes of the masks of a call's inputs.
  Mask OutputMask(const Layer& layer, const std::vector<int>& inputs,
                  const std::vector<Mask>& masks) {
    Mask made = layer.MadeMask();
    for (MaskStep& step : made) step.input = inputs[0];
    if (!made.empty() || masks.empty()) return made;
    switch (layer.masking()) {
      case Masking::kTakes:
      case Masking::kCarries:
        return masks[0];
      case Masking::kMerges:
      case Masking::kJoins: {
        const bool merges = layer.masking() == Masking::kMerges;
        for (const Mask& mask : masks) {
          if (mask.empty() && merges) return {};  // one input of which everything counts
          made = Combine(made, mask, merges ? MaskStep::Kind::kOr : MaskStep::Kind::kAnd);
        }
        return made;
      }
      case Masking::kLoses:
        spec_->warnings.push_back(
            {ErrorCode::kInvalidParameter,
             "the mask of its input ends at layer \"" + layer.name() + "\" of class " +
                 layer.class_name(),
             "The layer sees all steps, also those that are masked; so it is in Keras.",
             "Leave mask_zero and Masking out, or use a layer that heeds masks."});
        return {};
      default:
        return {};
    }
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
      if (id <= kNothing) {
        Fail(ErrorCode::kNotSupported,
             "layer \"" + at.name + "\" takes a mask for a tensor, which is not supported",
             "It is " + at.path + " of the architecture.");
        return -1;
      }
      shapes.push_back(spec_->tensors[id]);
    }
    const Layer& layer = *keras_->layers[at.layer];
    std::vector<Mask> masks;
    if (!MasksOf(at, call, arguments, data, &masks)) return -1;
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
    try {
      output = layer.OutputShape(shapes);
      if (!CheckTensor(output, "output of " + shown)) return -1;
      weights = layer.Weights(shapes);
    } catch (const Error& error) {
      problems_->push_back(error.problem());
      return -1;
    }
    if (!CheckWeights(weights, shown)) return -1;
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
        node.form.masks.push_back(OverInputs(mask, data, &node.inputs));
      }
    }
    // An operation knows nothing of masks, whatever the layer does that stands for it.
    const Mask made = at.operation ? Mask() : OutputMask(layer, arguments, masks);
    for (size_t i = 0; i < data && layer.masking() == Masking::kTakes; ++i) {
      tensor_masks_[arguments[i]].clear();
    }
    node.output = AddTensor(output);
    tensor_masks_.back() = made;
    spec_->nodes.push_back(node);
    return node.output;
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
    spec_->final_activation = FinalActivation();
    spec_->layers = std::move(keras_->layers);
    spec_->hash = HashOf();
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

  // A loss may take the model's logits only where nothing else reads the output.
  Activation FinalActivation() const {
    Activation last = Activation::kLinear;
    for (const Node& node : spec_->nodes) {
      for (int input : node.inputs) {
        if (input == spec_->output) return Activation::kLinear;
      }
      if (node.output == spec_->output) last = keras_->layers[node.layer]->FinalActivation();
    }
    const bool logits = last == Activation::kSoftmax || last == Activation::kSigmoid;
    return logits ? last : Activation::kLinear;
  }

  // Nothing for calls that say nothing more, as before there were others.
  static void PutForm(const CallForm& form, ByteWriter* out) {
    if (form.masks.empty() && !form.causal) return;
    out->PutString(form.causal ? "causal" : "masks");
    for (const Mask& mask : form.masks) {
      out->Put<uint32_t>(static_cast<uint32_t>(mask.size()));
      for (const MaskStep& step : mask) {
        out->Put<int32_t>(static_cast<int32_t>(step.kind));
        out->Put<int32_t>(step.input);
        out->Put<double>(step.value);
      }
    }
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
  std::vector<Mask> tensor_masks_;  // by tensor id; their steps' inputs are tensor ids
  std::vector<Mask> masks_;         // that operations made, alike
  size_t calls_ = 0;
};

}  // namespace

namespace {

std::shared_ptr<const ModelSpec> Parse(std::string_view json, const std::vector<DataInput>* data,
                                       std::vector<Problem>* problems) {
  std::vector<Problem> found;
  auto spec = std::make_shared<ModelSpec>();
  JsonDocument document;
  if (ParseJsonText(json, &document, &found)) {
    KerasModel keras;
    ReadKerasModel(document.root(), &keras, &found);
    if (!keras.graph.layers.empty()) Builder(&keras, spec.get(), &found).Build(data);
  }
  problems->insert(problems->end(), found.begin(), found.end());
  return found.empty() ? spec : nullptr;
}

std::shared_ptr<const ModelSpec> ParseOrThrow(std::string_view json,
                                              const std::vector<DataInput>* data) {
  std::vector<Problem> problems;
  auto spec = Parse(json, data, &problems);
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

}  // namespace hopper
