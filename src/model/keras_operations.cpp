// Operations on tensors (x + y, keras.ops, tf.*) for which a layer does the same.

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "activation/activation_type.h"
#include "model/json_text.h"
#include "model/keras_json.h"
#include "model/tensor_operation.h"

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
// with "math.add", "__operators__.add" or "compat.v1.add".
std::string FunctionOf(const json& entry) {
  const std::string class_name = StringMember(entry, "class_name");
  const std::string function = StringMember(Member(entry, "config"), "function");
  if (class_name != "TFOpLambda" && class_name != "SlicingOpLambda") return SnakeCase(class_name);
  return function.substr(function.rfind('.') + 1);  // all of it where there is no point
}

// What an operation is called with: tensors, and at most one number or list of numbers.
struct Operands {
  int tensors = 0;
  int numbers = 0;
  int lists = 0;
  double number = 0.0;
  std::vector<double> list;
  bool number_first = false;

  bool Add(const json& value) {
    if (value.is_number()) return AddNumber(value);
    const std::string class_name = StringMember(value, "class_name");
    if (class_name == "__keras_tensor__") return AddTensor();
    if (class_name == "__numpy__" || class_name == "__tensor__") {
      return AddList(Member(Member(value, "config"), "value"));
    }
    if (!value.is_array() || value.empty()) return false;
    if (value[0].is_string()) return AddTriple(value);
    if (value[0].is_number()) return AddList(value);
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
  // [1.0, 2.0], which may be in lists that hold nothing else.
  bool AddList(const json& value) {
    if (value.is_number()) return AddNumber(value);
    const json* inner = &value;
    while (inner->is_array() && inner->size() == 1 && (*inner)[0].is_array()) inner = &(*inner)[0];
    if (!inner->is_array() || inner->empty()) return false;
    for (const json& item : *inner) {
      if (!item.is_number()) return false;
      list.push_back(item.get<double>());
    }
    number_first = tensors == 0;
    ++lists;
    return true;
  }
  // ["conv", 0, 0, {"y": ...}] or ["_CONSTANT_VALUE", -1, 3.0, {"y": ...}]
  bool AddTriple(const json& triple) {
    if (triple.size() < 3) return false;
    if (!(IsText(triple[0], "_CONSTANT_VALUE") ? AddNumber(triple[2]) : AddTensor())) return false;
    if (triple.size() == 3) return true;
    for (const char* name : {"y", "b"}) {  // b is matmul's
      const json& second = Member(triple[3], name);
      if (!second.is_null() && !Add(second)) return false;
    }
    return true;
  }
};

// The only call of an operation. Null where it cannot be one.
const json* CallOf(const json& entry) {
  const json& nodes = Member(entry, "inbound_nodes");
  return nodes.is_array() && nodes.size() == 1 ? &nodes[0] : nullptr;
}

bool ReadOperands(const json& entry, Operands* operands) {
  const json* call = CallOf(entry);
  if (call == nullptr) return false;
  if (!call->is_object()) return operands->Add(*call);
  const json& kwargs = Member(*call, "kwargs");
  for (const json& value : Member(*call, "args")) {
    if (!operands->Add(value)) return false;
  }
  if (!kwargs.is_object()) return true;
  for (const json& value : kwargs) {
    if (!value.is_null() && !operands->Add(value)) return false;
  }
  return true;
}

// What tf.keras writes beside the first tensor: {"axis": 1} of ["conv", 0, 0, {"axis": 1}]. Null
// where there is nothing.
json* ArgumentsOf(json* entry) {
  if (CallOf(*entry) == nullptr) return nullptr;
  json* triple = &(*entry)["inbound_nodes"][0];
  while (triple->is_array() && !triple->empty() && (*triple)[0].is_array()) triple = &(*triple)[0];
  const bool some = triple->is_array() && triple->size() == 4 && (*triple)[3].is_object();
  return some ? &(*triple)[3] : nullptr;
}

// These move to the config, where Keras 3 has them and under their names there.
void MoveArguments(const std::string& function, json* entry, json* config) {
  static const std::map<std::string, const char*> kNames = {{"perm", "axes"},
                                                            {"clip_value_min", "x_min"},
                                                            {"clip_value_max", "x_max"},
                                                            {"shape", "newshape"}};
  json* arguments = ArgumentsOf(entry);
  if (arguments == nullptr) return;
  for (const auto& [key, value] : arguments->items()) {
    if (key == "name" || key == "y" || key == "b" || value.is_null()) continue;
    const auto other = kNames.find(key);
    std::string own = other == kNames.end() ? key : other->second;
    if (key == "alpha" && function == "leaky_relu") own = "negative_slope";
    (*config)[own].swap(value);
  }
}

bool IsDivision(const std::string& function) {
  return function == "true_divide" || function == "truediv" || function == "divide";
}

// x * scale + offset in place of an operation of a tensor and a number, or a list of numbers for
// the last axis.
const char* AsRescaling(const std::string& function, const Operands& operands, json* config) {
  const bool first = operands.number_first;
  const auto scaled = [&](double number, double* scale, double* offset) {
    *scale = 1.0;
    *offset = 0.0;
    if (function == "add") {
      *offset = number;
    } else if (function == "subtract") {
      *scale = first ? -1.0 : 1.0;
      *offset = first ? number : -number;
    } else if (function == "multiply") {
      *scale = number;
    } else if (IsDivision(function) && !first && number != 0.0) {
      *scale = 1.0 / number;
    } else {
      return false;
    }
    return true;
  };
  double scale = 1.0;
  double offset = 0.0;
  if (operands.lists == 0) {
    if (!scaled(operands.number, &scale, &offset)) return nullptr;
    (*config)["scale"] = scale;
    (*config)["offset"] = offset;
    return "Rescaling";
  }
  for (const double number : operands.list) {
    if (!scaled(number, &scale, &offset)) return nullptr;
    (*config)["scale"].push_back(scale);
    (*config)["offset"].push_back(offset);
  }
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
const char* AsReshape(json* config) {
  json* shape = config->contains("newshape") ? &(*config)["newshape"] : nullptr;
  if (shape == nullptr || !shape->is_array() || shape->empty()) return nullptr;
  const json& batch = (*shape)[0];
  if (!batch.is_null() && batch != json(-1)) return nullptr;
  shape->erase(0);
  (*config)["target_shape"] = std::move(*shape);
  return "Reshape";
}

// The order of the axes, of which the first is the batch.
const char* AsPermute(json* config) {
  json* axes = config->contains("axes") ? &(*config)["axes"] : nullptr;
  if (axes == nullptr || !axes->is_array() || axes->empty()) return nullptr;
  for (json& axis : *axes) {
    if (!axis.is_number_integer()) return nullptr;
    if (axis.get<int64_t>() < 0) axis = axis.get<int64_t>() + static_cast<int64_t>(axes->size());
  }
  if ((*axes)[0] != json(0)) return nullptr;
  axes->erase(0);
  (*config)["dims"].swap(*axes);
  return "Permute";
}

// "1", "" for null, and "?" for what is neither.
std::string NumberText(const json& value) {
  if (value.is_null()) return "";
  return value.is_number_integer() ? std::to_string(value.get<int64_t>()) : "?";
}

// The part of a tensor that stands in a key as Python writes it: "::-1", "...", "None", "3".
std::string PartText(const json& part) {
  if (part.is_null()) return "None";
  if (StringMember(part, "class_name") == "__ellipsis__") return "...";
  if (!part.is_object()) return NumberText(part);
  // Keras 3 has the three in a config.
  const json& slice =
      StringMember(part, "class_name") == "__slice__" ? Member(part, "config") : part;
  if (!slice.is_object() || !slice.contains("start")) return "?";
  const std::string step = NumberText(Member(slice, "step"));
  return NumberText(Member(slice, "start")) + ":" + NumberText(Member(slice, "stop")) +
         (step.empty() ? "" : ":" + step);
}

// Keras 3 has tensor and key as arguments.
const char* AsGetItem(json* entry, json* config) {
  const json* call = CallOf(*entry);
  if (call == nullptr) return nullptr;
  const json& args = Member(*call, "args");
  const json* arguments = ArgumentsOf(entry);
  const json* key = arguments == nullptr ? nullptr : &Member(*arguments, "slice_spec");
  if (args.is_array() && args.size() == 2) key = &args[1];
  if (key == nullptr) return nullptr;
  std::string text;
  if (key->is_array()) {
    for (const json& part : *key) text += (text.empty() ? "" : ",") + PartText(part);
  } else {
    text = PartText(*key);
  }
  if (text.empty() || text.find('?') != std::string::npos) return nullptr;
  (*config)["key"] = text;
  return "GetItem";
}

// Moves an argument out of the config. What holds others is not destroyed: that takes memory.
void PutAway(const char* key, json* entry, json* config) {
  const auto found = config->find(key);
  if (found == config->end()) return;
  (*entry)["put away"][key].swap(*found);
  config->erase(found);
}

// The two ends of an axis in a list of pairs; false where there are none.
bool ReadEnds(const json& pairs, size_t axis, int64_t (&ends)[2]) {
  const json& pair = pairs[axis];
  if (!pair.is_array() || pair.size() != 2) return false;
  for (const size_t end : {0, 1}) {
    if (!pair[end].is_number_integer()) return false;
    ends[end] = pair[end].get<int64_t>();
  }
  return true;
}

// Zeros around steps or pixels.
const char* AsPadding(json* entry, json* config) {
  const char* key = config->contains("pad_width") ? "pad_width" : "paddings";  // tf.keras'
  const json& pairs = Member(*config, key);
  const json& mode = Member(*config, "mode");
  const json& value = Member(*config, "constant_values");
  const bool zeros = (mode.is_null() || IsText(mode, "constant") || IsText(mode, "CONSTANT")) &&
                     (value.is_null() || value == json(0) || value == json(0.0));
  if (!zeros || !pairs.is_array() || (pairs.size() != 3 && pairs.size() != 4)) return nullptr;
  const size_t last = pairs.size() - 1;
  std::vector<int64_t> padding;
  for (size_t axis = 0; axis <= last; ++axis) {
    int64_t ends[2];
    if (!ReadEnds(pairs, axis, ends)) return nullptr;
    const bool fixed = axis == 0 || axis == last;  // the batch, or the channels
    if (fixed && (ends[0] != 0 || ends[1] != 0)) return nullptr;
    if (!fixed) padding.insert(padding.end(), ends, ends + 2);
  }
  PutAway(key, entry, config);
  PutAway("mode", entry, config);
  PutAway("constant_values", entry, config);
  json& written = (*config)["padding"];
  if (last == 2) {
    for (const int64_t end : padding) written.push_back(end);
    return "ZeroPadding1D";
  }
  for (size_t i = 0; i < padding.size(); i += 2) {
    written.push_back(json());
    written.back().push_back(padding[i]);
    written.back().push_back(padding[i + 1]);
  }
  return "ZeroPadding2D";
}

// Of images, by Keras' operation or TensorFlow's.
const char* AsResizing(json* entry, json* config) {
  const json& size = Member(*config, "size");
  if (!size.is_array() || size.size() != 2) return nullptr;
  for (const json& one : size) {
    if (!one.is_number_integer()) return nullptr;
  }
  const auto height = size[0].get<int64_t>();
  const auto width = size[1].get<int64_t>();
  // With what surrounds an image that keeps its ratio.
  for (const char* key : {"size", "fill_mode", "fill_value"}) PutAway(key, entry, config);
  (*config)["height"] = height;
  (*config)["width"] = width;
  if (config->contains("method")) {
    (*config)["interpolation"].swap((*config)["method"]);
    PutAway("method", entry, config);
  }
  return "Resizing";
}

// x / ||x||.
const char* AsUnit(json* entry, json* config) {
  const json& order = Member(*config, "order");
  if (!order.is_null() && order != json(2)) return nullptr;
  PutAway("order", entry, config);
  PutAway("epsilon", entry, config);  // which keeps 0 from being divided by 0
  return "UnitNormalization";
}

// A tensor is float32 already.
const char* AsCast(const json& config) {
  return IsText(Member(config, "dtype"), "float32") ? "Identity" : nullptr;
}

// The layer of x > number, by the function; of number > x, which is x < number, where it says so.
const char* AsComparison(const std::string& function, bool number_first) {
  struct Row {
    const char* function;
    const char* layer;
    const char* turned;
  };
  static constexpr Row kRows[] = {{"equal", "Equal", "Equal"},
                                  {"greater", "Greater", "Less"},
                                  {"greater_equal", "GreaterEqual", "LessEqual"},
                                  {"less", "Less", "Greater"},
                                  {"less_equal", "LessEqual", "GreaterEqual"},
                                  {"not_equal", "NotEqual", "NotEqual"}};
  for (const Row& row : kRows) {
    if (function == row.function) return number_first ? row.turned : row.layer;
  }
  return nullptr;
}

// Of a tensor and a number.
const char* AsNumberLayer(const std::string& function, const Operands& operands, json* config) {
  const double number = operands.number;
  if (const char* layer = AsComparison(function, operands.number_first)) {
    (*config)["number"] = number;
    return layer;
  }
  if (function == "maximum" || function == "minimum") {
    (*config)[function == "maximum" ? "x_min" : "x_max"] = number;
    // Of equal values the first has the gradient.
    if (operands.number_first) (*config)["open"] = true;
    return "Clip";
  }
  if (function == "power" || function == "pow") {
    (*config)[operands.number_first ? "base" : "exponent"] = number;
    return "Power";
  }
  if (IsDivision(function) && operands.number_first) {
    (*config)["numerator"] = number;
    return "Reciprocal";
  }
  return AsRescaling(function, operands, config);
}

// The layer that takes as many tensors, under the operation's names.
using Names = std::map<std::string, const char*>;

const char* Find(const Names& names, const std::string& function) {
  const auto found = names.find(function);
  return found == names.end() ? nullptr : found->second;
}

const Names& OfTwoTensors() {
  static const Names names = {{"add", "Add"},
                              {"subtract", "Subtract"},
                              {"multiply", "Multiply"},
                              {"maximum", "Maximum"},
                              {"minimum", "Minimum"},
                              {"divide", "Divide"},
                              {"true_divide", "Divide"},
                              {"truediv", "Divide"},
                              {"matmul", "Matmul"}};
  return names;
}

const Names& OfTensorLists() {
  static const Names names = {
      {"concat", "Concatenate"}, {"concatenate", "Concatenate"}, {"stack", "Stack"}};
  return names;
}

const Names& OfOneTensor() {
  static const Names names = {{"abs", "Absolute"},    {"absolute", "Absolute"},
                              {"amax", "Max"},        {"amin", "Min"},
                              {"clip", "Clip"},       {"clip_by_value", "Clip"},
                              {"cos", "Cos"},         {"expand_dims", "ExpandDims"},
                              {"log", "Log"},         {"log1p", "Log1p"},
                              {"max", "Max"},         {"mean", "Mean"},
                              {"min", "Min"},         {"reciprocal", "Reciprocal"},
                              {"reduce_max", "Max"},  {"reduce_mean", "Mean"},
                              {"reduce_min", "Min"},  {"reduce_std", "Std"},
                              {"reduce_sum", "Sum"},  {"reduce_variance", "Var"},
                              {"rsqrt", "Rsqrt"},     {"sin", "Sin"},
                              {"sqrt", "Sqrt"},       {"square", "Square"},
                              {"squeeze", "Squeeze"}, {"std", "Std"},
                              {"sum", "Sum"},         {"swapaxes", "Swapaxes"},
                              {"var", "Var"}};
  return names;
}

// The class of the layer that does the same; null where none does. Writes its arguments.
const char* AsLayer(json* entry, json* config) {
  const std::string function = FunctionOf(*entry);
  // Its key is no operand.
  if (function == "get_item" || function == "getitem") return AsGetItem(entry, config);
  if (IsText(Member(*entry, "class_name"), "NotEqual")) return nullptr;  // makes a mask
  MoveArguments(function, entry, config);
  Operands operands;
  if (!ReadOperands(*entry, &operands)) return nullptr;
  if (operands.lists != 0) {
    const bool one = operands.lists == 1 && operands.tensors == 1 && operands.numbers == 0;
    return one ? AsRescaling(function, operands, config) : nullptr;
  }
  if (const char* layer = Find(OfTensorLists(), function)) {
    return operands.numbers == 0 ? layer : nullptr;
  }
  if (operands.tensors == 2 && operands.numbers == 0) return Find(OfTwoTensors(), function);
  if (operands.tensors != 1) return nullptr;
  if (operands.numbers == 1) return AsNumberLayer(function, operands, config);
  if (operands.numbers != 0) return nullptr;
  if (const char* layer = Find(OfOneTensor(), function)) return layer;
  if (function == "negative" || function == "neg") {
    (*config)["scale"] = -1.0;
    return "Rescaling";
  }
  if (function == "reshape") return AsReshape(config);
  if (function == "transpose") return AsPermute(config);
  if (function == "cast") return AsCast(*config);
  if (function == "pad") return AsPadding(entry, config);
  if (function == "resize") return AsResizing(entry, config);
  if (function == "normalize" || function == "l2_normalize") return AsUnit(entry, config);
  return AsActivation(function, config);
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
      "cast",       "equal",    "exp",       "get_item", "greater", "greater_equal", "less",
      "less_equal", "negative", "normalize", "pad",      "power",   "resize",        "transpose"};
  const std::string class_name = StringMember(*entry, "class_name");
  const std::string function = SnakeCase(class_name);
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

bool WriteOperationAsLayer(json* entry) {
  json& config = (*entry)["config"];
  if (config.is_null()) config = json::object();
  if (!config.is_object()) return false;
  const char* class_name = AsLayer(entry, &config);
  if (class_name == nullptr) return false;
  config.erase("function");
  (*entry)["class_name"] = class_name;
  (*entry)["module"] = kOperationModule;
  (*entry)["registered_name"] = nullptr;
  return true;
}

}  // namespace hopper
