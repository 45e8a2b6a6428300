// The connections of a Functional: inbound_nodes, input_layers and output_layers, old and new.

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

// ["conv", 0, 0] or ["conv", 0, 0, {...}]
bool IsTriple(const json& value) {
  return value.is_array() && (value.size() == 3 || value.size() == 4) && value[0].is_string() &&
         value[1].is_number_integer() && value[2].is_number();
}

bool IsKerasTensor(const json& value) {
  return StringMember(value, "class_name") == "__keras_tensor__";
}

bool HoldsTensor(const json& value) {
  if (IsTriple(value) || IsKerasTensor(value)) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), HoldsTensor);
}

// {"mask": null}, {"mask": [null, null]}, {"flag": false}
bool IsUnset(const json& value) {
  if (value.is_structured()) return std::all_of(value.begin(), value.end(), IsUnset);
  return value.is_null() || (value.is_boolean() && !value.get<bool>());
}

class Connector {
 public:
  Connector(KerasFamily family, ModelGraph* graph, std::vector<Problem>* problems)
      : family_(family), graph_(graph), problems_(problems) {
    for (size_t i = 0; i < graph->layers.size(); ++i) {
      by_name_.emplace(graph->layers[i].name, static_cast<int>(i));
    }
  }

  void ReadCalls(const json& entry, GraphLayer* layer) {
    type_ = FindLayerType(StringMember(entry, "class_name"));
    place_ = layer->path + ".inbound_nodes";
    const json& nodes = Member(entry, "inbound_nodes");
    if (nodes.is_null()) return;
    if (!nodes.is_array()) return Fail(*layer, "inbound_nodes must be a list", nodes);
    for (const json& node : nodes) {
      Call call;
      bool read = false;
      if (layer->operation) {
        read = CollectTensors(node, 0, &call.inputs);
      } else if (node.is_object() && node.contains("args")) {
        read = ReadNewCall(node, *layer, &call);
      } else {
        read = ReadOldCall(node, *layer, &call);
      }
      if (!read) return;
      if (call.inputs.empty()) return Fail(*layer, "is called without input", node);
      layer->calls.push_back(std::move(call));
    }
  }

  // input_layers or output_layers: a triple, a list of triples, or a dictionary of them.
  bool ReadEnds(const json& config, const char* key, const char* what,
                std::vector<TensorRef>* refs) {
    const json& value = Member(config, key);
    place_ = graph_->path + "." + key;
    if (Flatten(value, 0, nullptr, refs) && !refs->empty()) return true;
    if (!graph_->valid) return false;
    problems_->push_back({ErrorCode::kInvalidText,
                          std::string(what) + " of model \"" + graph_->name + "\" are not readable",
                          "They are " + ShortJson(value) + " at " + place_ + ".", ""});
    graph_->valid = false;
    return false;
  }

  // Node numbers as written become indexes of calls. Nested models count from 0 or from 1,
  // depending on version, class and place.
  void ResolveCalls() {
    std::vector<std::set<int>> inner(graph_->layers.size());
    std::vector<std::set<int>> outer(graph_->layers.size());
    for (const GraphLayer& layer : graph_->layers) {
      for (const Call& call : layer.calls) {
        for (const TensorRef& ref : call.AllRefs()) inner[ref.layer].insert(ref.call);
      }
    }
    for (const TensorRef& ref : graph_->outputs) outer[ref.layer].insert(ref.call);
    std::vector<int> inner_base(graph_->layers.size(), 0);
    std::vector<int> outer_base(graph_->layers.size(), 0);
    for (size_t i = 0; i < graph_->layers.size(); ++i) {
      const GraphLayer& layer = graph_->layers[i];
      if (layer.kind != GraphLayer::Kind::kModel) continue;
      const int n = static_cast<int>(layer.calls.size());
      if (family_ == KerasFamily::kKeras3) {
        inner_base[i] = Base(inner[i], n, 0);
        outer_base[i] = Base(outer[i], n, layer.model->sequential ? 0 : 1);
      } else {
        std::set<int> both = inner[i];
        both.insert(outer[i].begin(), outer[i].end());
        inner_base[i] = outer_base[i] = Base(both, n, 1);
      }
    }
    for (GraphLayer& layer : graph_->layers) {
      for (Call& call : layer.calls) {
        for (TensorRef& ref : call.inputs) Resolve(inner_base[ref.layer], &ref);
        for (TensorRef& ref : call.masks) Resolve(inner_base[ref.layer], &ref);
      }
    }
    for (TensorRef& ref : graph_->outputs) Resolve(outer_base[ref.layer], &ref);
    for (TensorRef& ref : graph_->inputs) ref.call = 0;
  }

 private:
  // The number of the first of `n` calls: `usual` where every number then is one of a call, else
  // the smallest number that occurs.
  static int Base(const std::set<int>& numbers, int n, int usual) {
    if (numbers.empty()) return usual;
    if (*numbers.begin() >= usual && *numbers.rbegin() < usual + n) return usual;
    return *numbers.begin();
  }

  void Resolve(int base, TensorRef* ref) {
    const GraphLayer& layer = graph_->layers[ref->layer];
    // An input has the one node that made it.
    const int n = layer.kind == GraphLayer::Kind::kInput ? 1 : static_cast<int>(layer.calls.size());
    const int64_t call = n == 1 ? 0 : int64_t{ref->call} - base;
    if (call >= 0 && call < n) {
      ref->call = static_cast<int>(call);
      return;
    }
    Fail(layer, "has no call number " + std::to_string(ref->call), json(n));
    ref->call = 0;
  }

  void Fail(const GraphLayer& layer, const std::string& message, const json& value) {
    graph_->valid = false;
    problems_->push_back({ErrorCode::kInvalidText, "layer \"" + layer.name + "\": " + message,
                          "The file says " + ShortJson(value) + " at " + layer.path + ".", ""});
  }

  void Refuse(const GraphLayer& layer, const std::string& message) {
    graph_->valid = false;
    problems_->push_back({ErrorCode::kNotSupported, "layer \"" + layer.name + "\" " + message,
                          "The layer is " + layer.path + " of the architecture.", ""});
  }

  // Appends the tensor of [name, node, tensor].
  bool AddRef(const json& triple, std::vector<TensorRef>* refs) {
    const auto found = by_name_.find(triple[0].get_ref<const std::string&>());
    if (found == by_name_.end()) {
      graph_->valid = false;
      std::vector<std::string> names;  // of many it would take long, and of many problems, too
      if (problems_->empty() && graph_->layers.size() <= 1000) {
        for (const GraphLayer& layer : graph_->layers) names.push_back(layer.name);
      }
      problems_->push_back({ErrorCode::kInvalidText,
                            "model \"" + graph_->name + "\" has no layer " + ShortJson(triple[0]),
                            "It is named at " + place_ + " of the architecture.",
                            NearestNameHint(triple[0].get_ref<const std::string&>(), names)});
      return false;
    }
    TensorRef ref;
    ref.layer = found->second;
    const double node = triple[1].get<double>();
    const double tensor = triple[2].get<double>();
    if (!(node >= 0 && node < 1e6 && tensor >= 0 && tensor < 1e6)) {
      Fail(graph_->layers[ref.layer], "is named with an impossible number", triple);
      return false;
    }
    ref.call = static_cast<int>(node);
    ref.tensor = static_cast<int>(tensor);
    refs->push_back(ref);
    return true;
  }

  // All tensors of a structure, dictionaries in the order of their keys as Keras flattens them.
  // `kwargs` gets the keyword arguments of old triples. False for anything else.
  bool Flatten(const json& value, int depth, const json** kwargs, std::vector<TensorRef>* refs) {
    if (IsTriple(value)) {
      if (value.size() == 4 && kwargs != nullptr) *kwargs = &value[3];
      return AddRef(value, refs);
    }
    if (IsKerasTensor(value)) {
      const json& history = Member(Member(value, "config"), "keras_history");
      return IsTriple(history) && AddRef(history, refs);
    }
    if (!value.is_structured() || depth > 8 || value.contains("class_name")) return false;
    for (const json& item : value) {
      if (!Flatten(item, depth + 1, kwargs, refs)) return false;
    }
    return true;
  }

  // Whether Keras 3 writes `training` so at each call of the layer.
  bool IsDefaultOfTraining(bool value) const {
    if (family_ != KerasFamily::kKeras3 || type_ == nullptr) return false;
    return type_->training == (value ? TrainingDefault::kTrue : TrainingDefault::kFalse);
  }

  // The place of the input whose mask an argument is; -1 for other arguments.
  static int MaskedInput(const std::string& key) {
    if (key == "mask") return 0;
    if (key == "value_mask") return 1;
    return key == "key_mask" ? 2 : -1;
  }

  // A mask, or a list of one for each input, of which some may be null.
  bool ReadMasks(const json& value, int masked, Call* call) {
    if (value.is_array() && !IsTriple(value)) {
      for (const json& item : value) {
        if (!item.is_null() && !ReadMasks(item, masked, call)) return false;
        ++masked;
      }
      return true;
    }
    const size_t before = call->masks.size();
    if (!Flatten(value, 0, nullptr, &call->masks) || call->masks.size() != before + 1) return false;
    call->masked.push_back(masked);
    return true;
  }

  // attention(query=x, value=y): what stands in `kwargs` behind the arguments by place.
  bool ReadNamedInputs(const json& kwargs, Call* call) {
    static const char* const kNames[] = {"query", "value", "key"};
    for (size_t i = call->inputs.size(); i < std::size(kNames); ++i) {
      const json& value = Member(kwargs, kNames[i]);
      if (value.is_null()) return true;
      const size_t before = call->inputs.size();
      if (!Flatten(value, 0, nullptr, &call->inputs) || call->inputs.size() != before + 1) {
        return false;
      }
    }
    return true;
  }

  // Tensors of an operation in their order, wherever they are. Its layer has its other arguments.
  bool CollectTensors(const json& value, int depth, std::vector<TensorRef>* refs) {
    if (IsKerasTensor(value)) return Flatten(value, depth, nullptr, refs);
    const bool triple = IsTriple(value);
    if (triple && !IsText(value[0], "_CONSTANT_VALUE") && !AddRef(value, refs)) return false;
    if (!value.is_structured() || depth > 8) return true;
    if (triple) return value.size() == 3 || CollectTensors(value[3], depth + 1, refs);
    for (const json& item : value) {
      if (!CollectTensors(item, depth + 1, refs)) return false;
    }
    return true;
  }

  // `read`: what has been read of them already, or null.
  bool ReadKwargs(const json& kwargs, const json* read, const GraphLayer& layer, Call* call) {
    if (!kwargs.is_object()) return true;
    const bool named = type_ != nullptr && type_->names_inputs && ReadNamedInputs(kwargs, call);
    for (const auto& [key, value] : kwargs.items()) {
      if (&value == read) continue;
      if (named && (key == "query" || key == "value" || key == "key")) continue;
      if (key == "training" && value.is_boolean()) {
        if (IsDefaultOfTraining(value.get<bool>())) continue;
        if (value.get<bool>() && layer.kind == GraphLayer::Kind::kModel) {
          Refuse(layer, "is called with training=True, which is not supported");
          return false;
        }
        (value.get<bool>() ? call->training : call->inference) = true;
        continue;
      }
      if (IsUnset(value)) continue;
      if (key == "use_causal_mask" && value == json(true) && type_ != nullptr && type_->causal) {
        call->causal = true;
        continue;
      }
      const int masked = MaskedInput(key);
      if (masked >= 0 && ReadMasks(value, masked, call)) continue;
      if (!graph_->valid) return false;
      Refuse(layer, "is called with argument \"" + key + "\", which is not supported");
      return false;
    }
    return true;
  }

  // not_equal(x, 0): tensors and numbers. Other arguments stand in `config`.
  bool ReadMaskOperation(const json& args, const GraphLayer& layer, Call* call) {
    for (const json& argument : args) {
      if (argument.is_number()) {
        call->constants.push_back(argument.get<double>());
      } else if (!argument.is_null() && !Flatten(argument, 0, nullptr, &call->inputs)) {
        if (graph_->valid) Fail(layer, "inbound_nodes are not readable", args);
        return false;
      }
    }
    return true;
  }

  bool ReadNewCall(const json& node, const GraphLayer& layer, Call* call) {
    const json& kwargs = Member(node, "kwargs");
    const json* args = &node["args"];
    // layer(inputs=x)
    const json* inputs = nullptr;
    if (args->empty() && kwargs.is_object() && kwargs.contains("inputs")) {
      args = inputs = &kwargs["inputs"];
    }
    if (layer.kind == GraphLayer::Kind::kMask) return ReadMaskOperation(*args, layer, call);
    if (!Flatten(*args, 0, nullptr, &call->inputs)) {
      if (!graph_->valid) return false;
      if (HoldsTensor(*args)) {
        Refuse(layer, "is called with arguments that are not tensors, which is not supported");
      } else {
        Fail(layer, "inbound_nodes are not readable", *args);
      }
      return false;
    }
    return ReadKwargs(kwargs, inputs, layer, call);
  }

  bool ReadOldCall(const json& node, const GraphLayer& layer, Call* call) {
    const json* kwargs = nullptr;
    if (node.is_array() && !node.empty() && node[0].is_array() && !node[0].empty() &&
        IsText(node[0][0], "_CONSTANT_VALUE")) {
      Refuse(layer, "is called with a constant, which is not supported");
      return false;
    }
    if (!node.is_structured() || !Flatten(node, 0, &kwargs, &call->inputs)) {
      if (graph_->valid) Fail(layer, "inbound_nodes are not readable", node);
      return false;
    }
    return kwargs == nullptr || ReadKwargs(*kwargs, nullptr, layer, call);
  }

  KerasFamily family_;
  ModelGraph* graph_;
  std::vector<Problem>* problems_;
  std::string place_;                // of what is read, in the architecture
  const LayerType* type_ = nullptr;  // of the layer whose calls are read; null: a model or another
  std::unordered_map<std::string, int> by_name_;
};

}  // namespace

void ReadConnections(const json& config, KerasFamily family, ModelGraph* graph,
                     std::vector<Problem>* problems) {
  Connector connector(family, graph, problems);
  // ReadKerasModel made one graph layer of each entry, in order.
  const json& entries = Member(config, "layers");
  for (size_t i = 0; i < graph->layers.size(); ++i) {
    connector.ReadCalls(entries[i], &graph->layers[i]);
  }
  const bool inputs = connector.ReadEnds(config, "input_layers", "inputs", &graph->inputs);
  const bool outputs = connector.ReadEnds(config, "output_layers", "outputs", &graph->outputs);
  const json& ends = Member(config, "output_layers");
  if (outputs && ends.is_object() && ends.size() == graph->outputs.size()) {
    for (const auto& [name, end] : ends.items()) graph->output_names.push_back(name);
  }
  if (inputs && outputs && graph->valid) connector.ResolveCalls();
}

}  // namespace hopper
