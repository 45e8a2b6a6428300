// Operations on tensors (x + y, keras.ops, tf.*) for which a layer does the same.

#include <map>
#include <nlohmann/json.hpp>

#include "activation/activation_type.h"
#include "model/json_text.h"
#include "model/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

// "HardSigmoid" as "hard_sigmoid", "ReLU" as "re_lu".
std::string SnakeCase(const std::string& name) {
  std::string snake;
  bool inside = false;  // behind a small letter
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && inside) snake += '_';
    snake += upper ? static_cast<char>(c - 'A' + 'a') : c;
    inside = !upper;
  }
  return snake;
}

// The function of an operation's node: "add" for Keras 3's class Add, and for tf.keras' TFOpLambda
// with "math.add" or "__operators__.add".
std::string FunctionOf(const json& entry) {
  const std::string class_name = StringMember(entry, "class_name");
  if (class_name != "TFOpLambda") return SnakeCase(class_name);
  const std::string function = StringMember(Member(entry, "config"), "function");
  return function.substr(function.find('.') + 1);
}

// What an operation is called with: tensors, and at most one number.
struct Operands {
  int tensors = 0;
  int numbers = 0;
  double number = 0.0;
  bool number_first = false;
  const json* kwargs = nullptr;  // of old nodes

  bool Add(const json& value) {
    if (value.is_number()) return AddNumber(value);
    if (StringMember(value, "class_name") == "__keras_tensor__") return AddTensor();
    if (!value.is_array() || value.empty()) return false;
    if (value[0].is_string()) return AddTriple(value);
    for (const json& item : value) {
      if (!Add(item)) return false;
    }
    return true;
  }

 private:
  bool AddTensor() {
    ++tensors;
    return true;
  }
  bool AddNumber(const json& value) {
    if (!value.is_number()) return false;
    number = value.get<double>();
    number_first = tensors == 0;
    ++numbers;
    return true;
  }
  // ["conv", 0, 0, {"y": ...}] or ["_CONSTANT_VALUE", -1, 3.0, {"y": ...}]
  bool AddTriple(const json& triple) {
    if (triple.size() < 3) return false;
    if (!(IsText(triple[0], "_CONSTANT_VALUE") ? AddNumber(triple[2]) : AddTensor())) return false;
    if (triple.size() == 3) return true;
    kwargs = &triple[3];
    const json& second = Member(triple[3], "y");
    return second.is_null() || Add(second);
  }
};

bool ReadOperands(const json& entry, Operands* operands) {
  const json& nodes = Member(entry, "inbound_nodes");
  if (!nodes.is_array() || nodes.size() != 1) return false;
  if (!nodes[0].is_object()) return operands->Add(nodes[0]);
  const json& kwargs = Member(nodes[0], "kwargs");
  for (const json& value : Member(nodes[0], "args")) {
    if (!operands->Add(value)) return false;
  }
  if (!kwargs.is_object()) return true;
  for (const json& value : kwargs) {
    if (!value.is_null() && !operands->Add(value)) return false;
  }
  return true;
}

// x * scale + offset in place of an operation of a tensor and a number.
const char* AsRescaling(const std::string& function, const Operands& operands, json* config) {
  double scale = 1.0;
  double offset = 0.0;
  const double number = operands.number;
  if (function == "add") {
    offset = number;
  } else if (function == "subtract") {
    scale = operands.number_first ? -1.0 : 1.0;
    offset = operands.number_first ? number : -number;
  } else if (function == "multiply") {
    scale = number;
  } else if ((function == "true_divide" || function == "truediv" || function == "divide") &&
             !operands.number_first && number != 0.0) {
    scale = 1.0 / number;
  } else {
    return nullptr;
  }
  (*config)["scale"] = scale;
  (*config)["offset"] = offset;
  return "Rescaling";
}

// An argument that has the value with which the activation goes by its name alone.
void DropDefault(json* config, const char* key, double fallback) {
  const auto found = config->find(key);
  if (found != config->end() && found->is_number() && found->get<double>() == fallback) {
    config->erase(found);
  }
}

const char* AsActivation(const std::string& function, json* config) {
  static const std::map<std::string, const char*> kLayers = {
      {"elu", "ELU"}, {"leaky_relu", "LeakyReLU"}, {"re_lu", "ReLU"}, {"softmax", "Softmax"}};
  if (const auto layer = kLayers.find(function); layer != kLayers.end()) {
    // The function's default is not the layer's.
    if (function == "leaky_relu" && !config->contains("negative_slope")) {
      (*config)["negative_slope"] = 0.2;
    }
    return layer->second;
  }
  std::string name = function == "exp" ? "exponential" : function;
  if (name == "gelu" && Member(*config, "approximate") == json(true)) {
    name = "gelu_approximate";
    config->erase("approximate");
  }
  ActivationSpec spec;
  if (!FindActivation(name, /*keras_2=*/false, &spec)) return nullptr;
  DropDefault(config, "axis", -1.0);
  DropDefault(config, "alpha", 1.0);
  DropDefault(config, "threshold", 0.5);
  (*config)["activation"] = name;
  return "Activation";
}

// The shape with the batch's axis in front, which a layer leaves out.
const char* AsReshape(json* shape, json* config) {
  if (!shape->is_array() || shape->empty()) return nullptr;
  const json& batch = (*shape)[0];
  if (!batch.is_null() && batch != json(-1)) return nullptr;
  shape->erase(0);
  (*config)["target_shape"] = std::move(*shape);
  return "Reshape";
}

// The class of the layer that does the same; null where none does. Writes its arguments.
const char* AsLayer(json* entry, json* config) {
  Operands operands;
  if (!ReadOperands(*entry, &operands)) return nullptr;
  const std::string function = FunctionOf(*entry);
  static const std::map<std::string, const char*> kMerges = {{"add", "Add"},
                                                             {"subtract", "Subtract"},
                                                             {"multiply", "Multiply"},
                                                             {"maximum", "Maximum"},
                                                             {"minimum", "Minimum"}};
  const auto merge = kMerges.find(function);
  if (function == "concatenate" || function == "concat") {
    if (operands.numbers > 0) return nullptr;
    const json none;
    const json& axis = operands.kwargs == nullptr ? none : Member(*operands.kwargs, "axis");
    if (axis.is_number_integer()) (*config)["axis"] = axis.get<int64_t>();
    return "Concatenate";
  }
  if (operands.tensors == 2 && operands.numbers == 0) {
    return merge == kMerges.end() ? nullptr : merge->second;
  }
  if (operands.tensors != 1) return nullptr;
  if (operands.numbers == 1) return AsRescaling(function, operands, config);
  if (function == "negative") {
    (*config)["scale"] = -1.0;
    return "Rescaling";
  }
  if (function == "reshape") {
    if (config->contains("newshape")) return AsReshape(&(*config)["newshape"], config);
    json* node = &(*entry)["inbound_nodes"][0];
    if (node->is_array() && node->size() == 4) {  // ["x", 0, 0, {"shape": [-1, 2]}]
      json& kwargs = (*node)[3];
      if (kwargs.is_object() && kwargs.contains("shape")) {
        return AsReshape(&kwargs["shape"], config);
      }
    }
    return nullptr;
  }
  // Arguments of tf.nn's functions.
  if (operands.kwargs != nullptr && operands.kwargs->is_object()) {
    for (const auto& [key, value] : operands.kwargs->items()) {
      if (key == "name" || value.is_null() || value.is_boolean()) continue;
      if (!value.is_number() && !value.is_string()) return nullptr;
      (*config)[key == "alpha" && function == "leaky_relu" ? "negative_slope" : key] = value;
    }
  }
  return AsActivation(function, config);
}

}  // namespace

bool WriteOperationAsLayer(json* entry) {
  json& config = (*entry)["config"];
  if (config.is_null()) config = json::object();
  if (!config.is_object()) return false;
  const char* class_name = AsLayer(entry, &config);
  if (class_name == nullptr) return false;
  config.erase("function");
  (*entry)["class_name"] = class_name;
  (*entry)["module"] = "keras.layers";
  (*entry)["registered_name"] = nullptr;
  return true;
}

}  // namespace hopper
