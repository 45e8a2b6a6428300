// TimeDistributed of a model: each layer of it at each step, behind each other.

#include <nlohmann/json.hpp>
#include <vector>

#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

bool IsNo(const json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>());
}

bool IsFrozen(const json& config) {
  const json& trainable = Member(config, "trainable");
  return trainable.is_boolean() && !trainable.get<bool>();
}

std::string NameOf(const json& entry) {
  const std::string name = StringMember(entry, "name");
  return name.empty() ? StringMember(Member(entry, "config"), "name") : name;
}

// ["x", 0, 0]: the first output of the first call.
std::string NameOfTensor(const json& tensor) {
  if (!tensor.is_array() || tensor.size() < 3 || !tensor[0].is_string()) return "";
  for (size_t i : {1, 2}) {
    if (!tensor[i].is_number_integer() || tensor[i].get<int64_t>() != 0) return "";
  }
  return tensor[0].get<std::string>();
}

// The only entry that feeds another one, which is called once; "" where it is not so simple.
std::string FeederOf(const json& entry) {
  const json& nodes = Member(entry, "inbound_nodes");
  if (!nodes.is_array() || nodes.size() != 1) return "";
  const json& node = nodes[0];
  const json& args = Member(node, "args");
  const json* tensor = &node;
  const json* more = nullptr;
  if (node.is_object()) {  // Keras 3
    if (!args.is_array() || args.size() != 1) return "";
    tensor = &Member(Member(args[0], "config"), "keras_history");
    more = &Member(node, "kwargs");
  } else if (node.is_array()) {
    if (node.size() == 1 && node[0].is_array()) tensor = &node[0];
    if (tensor->size() > 3) more = &(*tensor)[3];
  }
  if (more != nullptr && more->is_object()) {
    for (const auto& [key, value] : more->items()) {
      if (!IsNo(value)) return "";
    }
  }
  return NameOfTensor(*tensor);
}

// Which of a model's entries follow each other from its input to its output; none where it is no
// chain, or not readable as one.
std::vector<size_t> ChainOf(const json& model) {
  const json& config = Member(model, "config");
  const json& layers = config.is_array() ? config : Member(config, "layers");
  const bool sequential = StringMember(model, "class_name") == "Sequential";
  std::vector<size_t> chain;
  if (!layers.is_array()) return chain;
  std::string last;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_object() || !Member(layers[i], "config").is_object()) return {};
    const bool is_input = StringMember(layers[i], "class_name") == "InputLayer";
    if (is_input && i > 0) return {};
    if (!sequential) {
      if (is_input != (i == 0) || (!is_input && (last.empty() || FeederOf(layers[i]) != last))) {
        return {};
      }
      last = NameOf(layers[i]);
    }
    if (!is_input) chain.push_back(i);
  }
  if (!sequential) {
    const json& outputs = Member(config, "output_layers");
    const bool one = outputs.is_array() && outputs.size() == 1 && outputs[0].is_array();
    if (last.empty() || NameOfTensor(one ? outputs[0] : outputs) != last) return {};
  }
  return chain;
}

// Keras 2 has all that a wrapper trains before all that it does not.
bool MovesWeights(const json& layers, const std::vector<size_t>& chain) {
  size_t frozen = 0;
  for (const size_t i : chain) {
    const std::string class_name = StringMember(layers[i], "class_name");
    if (class_name.find("Normalization") != std::string::npos &&
        class_name != "LayerNormalization") {
      return true;
    }
    if (!Member(Member(layers[i], "config"), "layers").is_null()) return true;
    frozen += IsFrozen(layers[i]["config"]) ? 1 : 0;
  }
  return frozen != 0 && frozen != chain.size();
}

}  // namespace

void UnfoldSteps(json* entry, KerasFamily family) {
  if (StringMember(*entry, "class_name") != "TimeDistributed" || !IsOfKeras(*entry) ||
      !Member(*entry, "config").is_object() || entry->contains(kPutAway)) {
    return;
  }
  const json& model = Member((*entry)["config"], "layer");
  const std::string class_name = StringMember(model, "class_name");
  const bool is_model =
      class_name == "Sequential" || class_name == "Functional" || class_name == "Model";
  if (!is_model || !IsOfKeras(model)) return;
  const std::vector<size_t> chain = ChainOf(model);
  if (chain.empty()) return;

  json& away = (*entry)[kPutAway];
  away.swap((*entry)["config"]);
  json& of_model = away["layer"]["config"];
  json& inner = of_model.is_array() ? of_model : of_model["layers"];
  if (family == KerasFamily::kKeras2 && MovesWeights(inner, chain)) {
    (*entry)["config"].swap(away);
    entry->erase(kPutAway);
    return;
  }
  json& config = (*entry)["config"];
  config["name"] = StringMember(away, "name");
  if (IsFrozen(away) || IsFrozen(of_model)) config["trainable"] = false;
  json& layers = config["layers"];
  for (const size_t i : chain) {
    layers.push_back(json());
    json& layer = layers.back();
    layer["class_name"] = "TimeDistributed";
    json& own = layer["config"];
    own["name"] = NameOf(inner[i]);
    own["layer"].swap(inner[i]);
  }
  if (Member(away, "batch_input_shape").is_array()) {
    layers[0]["config"]["batch_input_shape"].swap(away["batch_input_shape"]);
  }
  (*entry)["class_name"] = "Sequential";
}

}  // namespace hopper
