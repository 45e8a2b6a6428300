// Operations on tensors (x + y, keras.ops, tf.*) for which a layer does the same.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "activation/activation_type.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"
#include "model/keras/keras_operands.h"
#include "model/keras/keras_operation_layers.h"
#include "model/tensor_operation.h"

namespace hopper {

using nlohmann::json;

namespace {

// "HardSigmoid" as "hard_sigmoid", "ReLU" as "re_lu".
std::string FunctionOfClass(const std::string& name) {
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
// with "math.add", "__operators__.add" or "compat.v1.add".
std::string FunctionOf(const json& entry) {
  const std::string class_name = StringMember(entry, "class_name");
  const std::string function = StringMember(Member(entry, "config"), "function");
  if (class_name != "TFOpLambda" && class_name != "SlicingOpLambda")
    return FunctionOfClass(class_name);
  return function.substr(function.rfind('.') + 1);  // all of it where there is no point
}

// These move to the config, where Keras 3 has them and under their names there.
void MoveArguments(const std::string& function, json* entry, json* config) {
  static const std::map<std::string, const char*> kNames = {{"perm", "axes"},
                                                            {"clip_value_min", "x_min"},
                                                            {"clip_value_max", "x_max"},
                                                            {"depth", "num_classes"},
                                                            {"shape", "newshape"}};
  json* arguments = ArgumentsOfCall(entry);
  if (arguments == nullptr) return;
  if (function == "bias_add" && arguments->contains("bias")) {
    (*arguments)["y"].swap((*arguments)["bias"]);
    arguments->erase("bias");
    if (IsText(Member(*arguments, "data_format"), "NHWC")) arguments->erase("data_format");
  }
  for (const auto& [key, value] : arguments->items()) {
    if (key == "name" || key == "x" || key == "y" || key == "b" || value.is_null()) continue;
    const auto other = kNames.find(key);
    std::string own = other == kNames.end() ? key : other->second;
    if (key == "alpha" && function == "leaky_relu") own = "negative_slope";
    (*config)[own].swap(value);
  }
}

bool IsWholeDivision(const std::string& function) {
  return function == "floor_divide" || function == "floordiv" || function == "floor_div" ||
         function == "mod" || function == "floormod";
}

// The layer that takes as many tensors, under the operation's names.
using Names = std::map<std::string, const char*>;

const char* Find(const Names& names, const std::string& function) {
  const auto found = names.find(function);
  return found == names.end() ? nullptr : found->second;
}

const Names& OfTwoTensors() {
  static const Names names = {{"add", "Add"},
                              {"divide", "Divide"},
                              {"equal", "Equal"},
                              {"floor_div", "FloorDivide"},
                              {"floor_divide", "FloorDivide"},
                              {"floordiv", "FloorDivide"},
                              {"floormod", "Mod"},
                              {"greater", "Greater"},
                              {"greater_equal", "GreaterEqual"},
                              {"less", "Less"},
                              {"less_equal", "LessEqual"},
                              {"logical_and", "LogicalAnd"},
                              {"logical_or", "LogicalOr"},
                              {"matmul", "Matmul"},
                              {"maximum", "Maximum"},
                              {"minimum", "Minimum"},
                              {"mod", "Mod"},
                              {"multiply", "Multiply"},
                              {"not_equal", "NotEqual"},
                              {"pow", "Power"},
                              {"power", "Power"},
                              {"subtract", "Subtract"},
                              {"true_divide", "Divide"},
                              {"truediv", "Divide"}};
  return names;
}

const Names& OfTensorLists() {
  static const Names names = {
      {"concat", "Concatenate"}, {"concatenate", "Concatenate"}, {"stack", "Stack"}};
  return names;
}

const Names& OfOneTensor() {
  static const Names names = {{"abs", "Absolute"},
                              {"absolute", "Absolute"},
                              {"amax", "Max"},
                              {"amin", "Min"},
                              {"arctan", "Arctan"},
                              {"atan", "Arctan"},
                              {"ceil", "Ceil"},
                              {"clip", "Clip"},
                              {"clip_by_value", "Clip"},
                              {"cos", "Cos"},
                              {"cosh", "Cosh"},
                              {"cumsum", "Cumsum"},
                              {"expand_dims", "ExpandDims"},
                              {"expm1", "Expm1"},
                              {"floor", "Floor"},
                              {"log", "Log"},
                              {"log10", "Log10"},
                              {"log1p", "Log1p"},
                              {"log2", "Log2"},
                              {"logsumexp", "Logsumexp"},
                              {"max", "Max"},
                              {"mean", "Mean"},
                              {"min", "Min"},
                              {"moveaxis", "Moveaxis"},
                              {"prod", "Prod"},
                              {"reciprocal", "Reciprocal"},
                              {"reduce_logsumexp", "Logsumexp"},
                              {"reduce_max", "Max"},
                              {"reduce_mean", "Mean"},
                              {"reduce_min", "Min"},
                              {"reduce_prod", "Prod"},
                              {"reduce_std", "Std"},
                              {"reduce_sum", "Sum"},
                              {"reduce_variance", "Var"},
                              {"round", "Round"},
                              {"rsqrt", "Rsqrt"},
                              {"sign", "Sign"},
                              {"sin", "Sin"},
                              {"sinh", "Sinh"},
                              {"sqrt", "Sqrt"},
                              {"square", "Square"},
                              {"squeeze", "Squeeze"},
                              {"std", "Std"},
                              {"sum", "Sum"},
                              {"swapaxes", "Swapaxes"},
                              {"tan", "Tan"},
                              {"var", "Var"}};
  return names;
}

// Of the places of tensors in the equation those of arrays, which have no batch.
const char* AsEinsum(const Operands& operands, json* config) {
  if (operands.tensors == 0 || !Member(*config, "subscripts").is_string()) return nullptr;
  if (config->contains("arrays")) return nullptr;
  for (const ConstantOperand& constant : operands.constants) {
    (*config)["arrays"].push_back(constant.place);
  }
  return "Einsum";
}

// Of a tensor and an array: as Rescaling, or the layer of two tensors, of which one is always the
// same. Null where Keras makes a mask of it.
const char* AsLayerOfTwo(const json& entry, const std::string& function, Operands* operands,
                         json* config) {
  if (operands->tensors == 1) {
    const ConstantOperand& constant = operands->constants[0];
    const bool number = constant.shape.empty();
    if (number && IsText(Member(entry, "class_name"), "NotEqual")) return nullptr;
    const char* layer = number ? AsNumberLayer(function, constant, config)
                               : AsRescaling(function, constant, config);
    if (layer != nullptr) {
      operands->constants.clear();
      return layer;
    }
    const bool divides = IsDivision(function) || IsWholeDivision(function);
    const bool zero = std::count(constant.values.begin(), constant.values.end(), 0.0) > 0;
    if (divides && constant.place == 1 && zero) return nullptr;
  }
  return Find(OfTwoTensors(), function);
}

// The class of the layer that does the same; null where none does. Writes its arguments;
// `operands` keeps the constants that are inputs of the layer.
const char* AsLayer(json* entry, json* config, Operands* operands) {
  std::string function = FunctionOf(*entry);
  // Its key is no operand.
  if (function == "get_item" || function == "getitem") return AsGetItem(entry, config);
  MoveArguments(function, entry, config);
  // The preprocessing of images in tf.keras 2 is written with it.
  if (function == "bias_add") {
    if (config->contains("data_format")) return nullptr;  // not along the last axis
    function = "add";
  }
  if (!operands->Read(*entry)) return nullptr;
  if (const char* layer = Find(OfTensorLists(), function)) {
    return operands->constants.empty() ? layer : nullptr;
  }
  if (operands->tensors == 0) return nullptr;
  if (function == "einsum") return AsEinsum(*operands, config);
  if (function == "where" && operands->count() == 3) return "Where";
  if (function == "take") return AsTake(operands, config);
  if (operands->count() == 2) return AsLayerOfTwo(*entry, function, operands, config);
  if (operands->count() != 1) return nullptr;
  if (const char* layer = Find(OfOneTensor(), function)) return layer;
  return AsLayerOfOne(function, entry, config);
}

// Whether a call of Keras 3 is that of an operation of two tensors, or of a tensor and a number,
// and not of the merge layer of that name, which has its tensors in a list.
bool HasOperands(const json& entry) {
  const json& nodes = Member(entry, "inbound_nodes");
  const json& args = nodes.is_array() && !nodes.empty() ? Member(nodes[0], "args") : nodes;
  return args.is_array() && args.size() == 2 && !args[0].is_array();
}

}  // namespace

void NameOperation(json* entry) {
  if (!entry->is_object() || !StringMember(*entry, "module").empty()) return;
  const json& nodes = Member(*entry, "inbound_nodes");
  if (!nodes.is_array() || nodes.empty() || !Member(nodes[0], "args").is_array()) return;
  const json& config = Member(*entry, "config");
  if (config.is_object() && config.contains("trainable")) return;  // Keras writes it of layers
  static const std::set<std::string> kOfMasks = {
      "all",        "any",       "broadcast_to", "convert_to_tensor", "logical_and",
      "logical_or", "not_equal", "ones_like",    "zeros_like"};
  static const std::set<std::string> kOthers = {
      "cast",      "einsum",   "equal",         "exp",       "flip",       "floor_divide",
      "get_item",  "greater",  "greater_equal", "less",      "less_equal", "logical_not",
      "mod",       "negative", "norm",          "normalize", "one_hot",    "pad",
      "power",     "repeat",   "resize",        "split",     "take",       "tile",
      "transpose", "where"};
  const std::string class_name = StringMember(*entry, "class_name");
  const std::string function = FunctionOfClass(class_name);
  const LayerType* type = FindLayerType(class_name);
  ActivationSpec spec;
  const bool merges = (Find(OfTwoTensors(), function) != nullptr && HasOperands(*entry)) ||
                      function == "concatenate";  // of masks as of tensors
  const bool shaped = function == "reshape" && config.is_object() && config.contains("newshape");
  const bool known = Find(OfOneTensor(), function) != nullptr || kOthers.count(function) != 0 ||
                     kOfMasks.count(function) != 0 || function == "stack" ||
                     FindActivation(function, /*keras_2=*/false, &spec);
  const bool no_layer = type == nullptr || IsOperationOnly(*type);
  if (merges || shaped || (no_layer && known)) (*entry)["module"] = "keras.src.ops";
}

std::string OperationFunction(const json& entry) { return FunctionOf(entry); }

bool WriteOperationAsLayer(json* entry, std::vector<ConstantOperand>* constants) {
  json& config = (*entry)["config"];
  if (config.is_null()) config = json::object();
  if (!config.is_object()) return false;
  Operands operands;
  const char* class_name = AsLayer(entry, &config, &operands);
  if (class_name == nullptr) return false;
  *constants = std::move(operands.constants);
  config.erase("function");
  (*entry)["class_name"] = class_name;
  (*entry)["module"] = kOperationModule;
  (*entry)["registered_name"] = nullptr;
  return true;
}

int64_t PartsOf(const json& entry) {
  const json& parts = Member(Member(entry, "config"), "parts");
  const bool several = IsText(Member(entry, "class_name"), "Split") && parts.is_number_integer();
  return several ? parts.get<int64_t>() : 1;
}

}  // namespace hopper
