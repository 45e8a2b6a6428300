#include "model/graph/graph_builder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"
#include "base/product.h"
#include "model/graph/call_order.h"
#include "model/graph/model_inputs.h"
#include "model/keras/json_text.h"

namespace hopper {
namespace {

constexpr size_t kMaxCalls = 10000;

// Where in the file the layer of a problem is.
void NamePlace(const GraphLayer& at, const std::vector<Shape>& shapes, Problem* problem) {
  if (at.path.empty()) return;  // a layer of ours
  if (!problem->detail.empty()) problem->detail += ' ';
  problem->detail += "The layer is " + at.path + " of the architecture";
  for (size_t i = 0; i < shapes.size() && i < 3; ++i) {
    problem->detail += (i == 0 ? ", called with " : " and ") + ShapeText(shapes[i]);
  }
  problem->detail += shapes.size() > 3 ? " and more." : ".";
}

bool SameShapes(const std::vector<WeightSpec>& a, const std::vector<WeightSpec>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].shape != b[i].shape) return false;
  }
  return true;
}

}  // namespace

void GraphBuilder::Fail(ErrorCode code, const std::string& message, const std::string& detail,
                        const std::string& hint) {
  problems_->push_back({code, message, detail, hint});
}

bool GraphBuilder::CheckTensor(const Shape& shape, const std::string& what) {
  return CheckTensorShape(shape, what, problems_);
}

int GraphBuilder::AddTensor(const Shape& shape) {
  spec_->tensors.push_back(shape);
  masks_.AddTensor();
  return static_cast<int>(spec_->tensors.size()) - 1;
}

bool GraphBuilder::Run(const ModelGraph& graph, const std::vector<int>& inputs, bool inference,
                       std::vector<int>* outputs) {
  if (!graph.valid) return false;
  if (inputs.size() != graph.inputs.size()) {
    Fail(ErrorCode::kInvalidParameter,
         "model \"" + graph.name + "\" has " + std::to_string(graph.inputs.size()) +
             " inputs but is called with " + std::to_string(inputs.size()));
    return false;
  }
  for (const GraphLayer& layer : graph.layers) {
    if (layer.kind == GraphLayer::Kind::kInput || !layer.calls.empty()) continue;
    Fail(ErrorCode::kInvalidText, "layer \"" + layer.name + "\" is not connected",
         "It is " + layer.path + " of the architecture.");
  }
  CallOrder order(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int at = graph.inputs[i].layer;
    if (!CheckInput(graph.layers[at], inputs[i], !order.values(at, 0).empty())) return false;
    order.values(at, 0) = {inputs[i]};
    order.Settle({at, 0});
  }
  const auto value_of = [&](const TensorRef& ref) {
    const std::vector<int>& made = order.values(ref.layer, ref.call);
    if (made.empty()) return -1;
    if (ref.tensor < static_cast<int>(made.size())) return made[ref.tensor];
    Fail(ErrorCode::kInvalidText, "layer \"" + graph.layers[ref.layer].name + "\" has no output " +
                                      std::to_string(ref.tensor));
    return -1;
  };
  for (CallOrder::Key key; order.Next(&key);) {
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
    std::vector<int>* made = &order.values(key.first, key.second);
    const bool frozen = inference || call.inference;
    if (layer.kind == GraphLayer::Kind::kMask) {
      *made = {masks_.Call(layer, call, arguments)};
    } else if (layer.kind == GraphLayer::Kind::kModel) {
      if (!CallModel(layer, call, arguments, frozen, made)) made->clear();
    } else if (layer.parts > 1) {
      CallParts(layer, order.parts_read(key.first), call, arguments, frozen, made);
    } else {
      *made = {CallLayer(layer, call, arguments, frozen)};
    }
    order.Settle(key);
  }
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (!order.IsOpen(i)) continue;
    Fail(ErrorCode::kInvalidText,
         "layer \"" + graph.layers[i].name + "\" does not depend on the model's input alone",
         "It is part of a cycle, or an input is not among the model's inputs. It is " +
             graph.layers[i].path + " of the architecture.",
         "Build the model with all its inputs: keras.Model(inputs=[a, b], outputs=y).");
    return false;
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

bool GraphBuilder::CallModel(const GraphLayer& layer, const Call& call,
                             const std::vector<int>& arguments, bool inference,
                             std::vector<int>* outputs) {
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

// Of an output that nobody reads there is no node.
void GraphBuilder::CallParts(const GraphLayer& layer, const std::vector<bool>& read,
                             const Call& call, const std::vector<int>& arguments, bool inference,
                             std::vector<int>* outputs) {
  GraphLayer part;
  part.name = layer.name;
  part.path = layer.path;
  part.operation = layer.operation;
  const size_t before = problems_->size();
  for (size_t i = 0; i < read.size(); ++i) {
    part.layer = layer.layer < 0 ? -1 : layer.layer + static_cast<int>(i);
    const bool called = part.layer >= 0 && read[i] && problems_->size() == before;
    outputs->push_back(called ? CallLayer(part, call, arguments, inference) : -1);
    if (part.layer >= 0 && !called) weights_[static_cast<size_t>(part.layer)].emplace();
  }
}

int GraphBuilder::CallOwn(const char* class_name, const nlohmann::json& config,
                          const std::string& fingerprint, const std::vector<int>& inputs) {
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

bool GraphBuilder::CheckInput(const GraphLayer& layer, int tensor, bool taken) {
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

bool GraphBuilder::CheckAxes(const GraphLayer& at, const std::vector<Shape>& shapes) {
  const bool broadcasts = at.operation && keras_->layers[at.layer]->broadcasts();
  // Of layers the missing axes stand behind the batch, of operations before it.
  for (const Shape& shape : shapes) {
    if (!broadcasts || shape.size() == shapes[0].size()) continue;
    Fail(ErrorCode::kNotSupported,
         "operation \"" + at.name + "\" of tensors of shapes " + ShapeText(shapes[0]) + " and " +
             ShapeText(shape) + " is not supported",
         "Where one has fewer axes, Keras takes the batch for another axis, as NumPy does. It "
         "is " +
             at.path + " of the architecture.",
         "Use the layer, for example keras.layers.Add()([x, y]), or Reshape.");
    return false;
  }
  return true;
}

int GraphBuilder::MaskTensor(const std::string& name, const Mask& mask) {
  std::vector<int> made;  // by steps in postfix order
  for (const MaskStep& step : mask) {
    if (step.kind == MaskStep::Kind::kEvery || step.kind == MaskStep::Kind::kFollow) return -1;
  }
  for (const MaskStep& step : mask) {
    JsonDocument config;
    (*config.root())["name"] = name + "/mask";
    if (step.OfTwo()) {
      const int second = made.back();
      made.pop_back();
      const char* class_name = step.kind == MaskStep::Kind::kAnd ? "LogicalAnd" : "LogicalOr";
      made.back() = CallOwn(class_name, *config.root(), "", {made.back(), second});
    } else {
      (*config.root())["number"] = step.value;
      made.push_back(
          CallOwn("NotEqual", *config.root(), "number=" + NumberText(step.value), {step.input}));
    }
    if (made.back() >= 0 && step.kind == MaskStep::Kind::kAnyNotEqual) {
      JsonDocument largest;
      (*largest.root())["name"] = name + "/mask";
      (*largest.root())["axis"] = -1;
      made.back() = CallOwn("Max", *largest.root(), "axis=-1", {made.back()});
    }
    if (made.back() < 0) return -1;
  }
  return made.back();
}

Mask GraphBuilder::TakeMask(int tensor) {
  Mask mask = masks_.OfTensor(tensor);
  masks_.SetTensor(tensor, {});
  return mask;
}

int GraphBuilder::TensorOfMask(const GraphLayer& at, int id) {
  const Mask* found = masks_.Find(id);
  if (found == nullptr || found->empty()) return id;
  const size_t before = problems_->size();
  const Mask mask = *found;
  const int tensor = MaskTensor(at.name, mask);
  return tensor < 0 && problems_->size() == before ? id : tensor;
}

bool GraphBuilder::AddConstants(const GraphLayer& at, std::vector<int>* arguments,
                                std::vector<Shape>* shapes) {
  size_t rank = 0;
  for (const Shape& shape : *shapes) rank = std::max(rank, shape.size());
  const int beside = arguments->front();
  for (const ConstantOperand& constant : at.constants) {
    Shape shape = constant.shape;
    if (keras_->layers[at.layer]->broadcasts()) {
      // An axis for each of the tensors' own, and one of size 1 for the batch.
      if (shape.size() > rank + 1 || (shape.size() == rank + 1 && shape[0] != 1)) {
        Fail(ErrorCode::kNotSupported,
             "operation \"" + at.name + "\" of an array of shape " + ShapeText(shape) +
                 " and a tensor of shape " + ShapeText((*shapes)[0]) + " is not supported",
             "The array would hold something else for each example of a batch. It is " + at.path +
                 " of the architecture.",
             "Give the array a first axis of size 1 for the batch.");
        return false;
      }
      if (shape.size() == rank + 1) shape.erase(shape.begin());
      shape.insert(shape.begin(), rank - shape.size(), 1);
    }
    JsonDocument config;
    (*config.root())["name"] = at.name + "/constant";
    Hasher hasher;
    for (const int64_t size : shape) (*config.root())["shape"].push_back(size);
    for (const double value : constant.values) {
      (*config.root())["values"].push_back(value);
      hasher.Add(&value, sizeof(value));
    }
    const int id = CallOwn("Constant", *config.root(),
                           ShapeText(shape) + "\n" + hasher.Finish().Hex(), {beside});
    if (id < 0) return false;
    const auto place = static_cast<std::ptrdiff_t>(constant.place);
    arguments->insert(arguments->begin() + place, id);
    shapes->insert(shapes->begin() + place, shape);
  }
  return true;
}

bool GraphBuilder::ShapesOf(const GraphLayer& at, const Call& call, std::vector<int>* arguments,
                            std::vector<Shape>* shapes) {
  const size_t data = call.inputs.size();
  for (size_t i = 0; i < arguments->size(); ++i) {
    int& id = (*arguments)[i];
    if (id == -1) return false;
    if (i >= data) continue;
    if (id <= Masks::kNothing && at.operation) id = TensorOfMask(at, id);
    if (id <= Masks::kNothing) {
      Fail(ErrorCode::kNotSupported,
           "layer \"" + at.name + "\" takes a mask for a tensor, which is not supported",
           "It is " + at.path + " of the architecture.",
           "Write keras.ops.cast(x != 0, \"float32\") for a mask to calculate with.");
      return false;
    }
    if (id == -1) return false;
    shapes->push_back(spec_->tensors[id]);
  }
  return true;
}

bool GraphBuilder::TakeOutputAndWeights(const GraphLayer& at, const std::vector<Shape>& shapes,
                                        Shape* output) {
  const Layer& layer = *keras_->layers[at.layer];
  const std::string shown = "layer \"" + layer.name() + "\"";
  std::vector<WeightSpec> weights;
  const size_t before = problems_->size();
  const auto fits = [&] {
    try {
      *output = layer.OutputShape(shapes);
      if (!CheckTensor(*output, "output of " + shown)) return false;
      weights = layer.Weights(shapes);
      layer.ApplyFactors(&weights);
    } catch (const Error& error) {
      problems_->push_back(error.problem());
      return false;
    }
    return CheckWeights(weights, shown);
  };
  if (!fits()) {
    for (size_t i = before; i < problems_->size(); ++i) NamePlace(at, shapes, &(*problems_)[i]);
    return false;
  }
  std::optional<std::vector<WeightSpec>>& known = weights_[at.layer];
  if (!known) {
    known = std::move(weights);
  } else if (!SameShapes(*known, weights)) {
    Fail(ErrorCode::kInvalidParameter,
         shown + " is called twice with inputs that need different weights",
         "It is " + at.path + " of the architecture.");
    return false;
  }
  return true;
}

int GraphBuilder::CallLayer(const GraphLayer& at, const Call& call, std::vector<int> arguments,
                            bool inference) {
  if (at.layer < 0) return -1;
  size_t data = call.inputs.size();
  std::vector<Shape> shapes;
  if (!ShapesOf(at, call, &arguments, &shapes)) return -1;
  const Layer& layer = *keras_->layers[at.layer];
  std::vector<Mask> masks;
  if (call.training && layer.changes_in_training()) {
    Fail(ErrorCode::kNotSupported,
         "layer \"" + layer.name() + "\" is called with training=True, which is not supported",
         "It would drop values or draw noise in predictions, too. The layer is " + at.path +
             " of the architecture.",
         "Call it without training: then it does so while the model trains.");
    return -1;
  }
  // An operation knows nothing of masks, whatever the layer does that stands for it.
  if (!at.operation && !masks_.OfCall(at, layer, call, arguments, &masks)) return -1;
  if (!CheckAxes(at, shapes)) return -1;
  if (!at.constants.empty()) {  // an operation, whose call has no masks
    if (!AddConstants(at, &arguments, &shapes)) return -1;
    data = arguments.size();
  }
  Shape output;
  if (!TakeOutputAndWeights(at, shapes, &output)) return -1;
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

bool GraphBuilder::CheckWeights(const std::vector<WeightSpec>& weights, const std::string& shown) {
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

}  // namespace hopper
