#include "model/keras/keras_operation_layers.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "activation/activation_type.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"
#include "model_hopper/limits.h"

namespace hopper {

using nlohmann::json;

namespace {

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
  DropDefault(config, "b", 4.0);
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

// Moves an argument out of the config. What holds others is not destroyed: that takes memory.
void PutAway(const char* key, json* entry, json* config) {
  const auto found = config->find(key);
  json& away = (*entry)["put away"];  // a file may have something else there
  if (found == config->end() || (!away.is_null() && !away.is_object())) return;
  away[key].swap(*found);
  config->erase(found);
}

// Of an axis: beyond them all, and a double holds it.
constexpr double kMostPlaces = 1e15;

// "1", "" for null, and "?" for what is neither.
std::string IndexText(const json& value) {
  if (value.is_null()) return "";
  return value.is_number_integer() ? std::to_string(value.get<int64_t>()) : "?";
}

// A part along one axis, which is not the batch: ":,::-1", "...,2,:".
std::string KeyOfAxis(int64_t axis, const std::string& part) {
  std::string key = axis < 0 ? "...," + part : "";
  for (int64_t i = axis < 0 ? axis + 1 : axis; i != 0; i += axis < 0 ? 1 : -1) {
    key += axis < 0 ? ",:" : ":,";
  }
  return axis > 0 ? key + part : key;
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

// The root of the sum of squares, which 2 means of one axis only.
const char* AsNorm(json* entry, json* config) {
  const json& order = Member(*config, "ord");
  const json& axis = Member(*config, "axis");
  const size_t axes = axis.is_array() ? axis.size() : 1;
  const bool squares = order.is_null() || (order == json(2) && axes == 1) ||
                       (axes <= 2 && (IsText(order, "fro") || IsText(order, "euclidean")));
  if (!squares || axes > 2) return nullptr;
  PutAway("ord", entry, config);
  return "Norm";
}

// Along one axis, as a part of a tensor from its end to its start.
const char* AsFlip(json* entry, json* config) {
  const json* axis = &Member(*config, "axis");
  if (axis->is_array() && axis->size() == 1) axis = &(*axis)[0];
  if (!axis->is_number_integer()) return nullptr;
  const auto at = axis->get<int64_t>();
  if (at == 0 || std::abs(at) > HOPPER_MAX_RANK) return nullptr;
  PutAway("axis", entry, config);
  (*config)["key"] = KeyOfAxis(at, "::-1");
  return "GetItem";
}

// How often: tf.keras says "multiples".
const char* AsTile(json* config) {
  if (config->contains("multiples")) {
    (*config)["repeats"].swap((*config)["multiples"]);
    config->erase("multiples");
  }
  return "Tile";
}

// A tensor is float32 already; as a whole number it has no fraction.
const char* AsCast(json* config) {
  const json& type = Member(*config, "dtype");
  const bool whole = IsText(type, "int32") || IsText(type, "int64");
  const bool truth = IsText(type, "bool");
  if (!whole && !truth && !IsText(type, "float32")) return nullptr;
  (*config)["dtype"] = "float32";
  if (!truth) return whole ? "Cast" : "Identity";
  (*config)["number"] = 0.0;
  return "NotEqual";
}

// tf.split says how many parts there are, or how large they are; Keras how many, or where all but
// the first begin.
const char* AsSplit(json* entry, json* config) {
  const bool sizes = config->contains("num_or_size_splits");
  const json& how = Member(*config, sizes ? "num_or_size_splits" : "indices_or_sections");
  int64_t parts = 0;
  if (how.is_number_integer()) {
    parts = how.get<int64_t>();
  } else if (how.is_array()) {
    parts = static_cast<int64_t>(how.size()) + (sizes ? 0 : 1);
  }
  if (parts < 1) return nullptr;
  if (how.is_array()) {
    json& list = (*config)[sizes ? "sizes" : "indices"];
    list.swap((*config)[sizes ? "num_or_size_splits" : "indices_or_sections"]);
  }
  PutAway("num_or_size_splits", entry, config);
  PutAway("indices_or_sections", entry, config);
  (*config)["parts"] = parts;
  return "Split";
}

// The part of a tensor that stands in a key as Python writes it: "::-1", "...", "None", "3".
std::string PartText(const json& part) {
  if (part.is_null()) return "None";
  if (StringMember(part, "class_name") == "__ellipsis__") return "...";
  if (!part.is_object()) return IndexText(part);
  // Keras 3 has the three in a config.
  const json& slice =
      StringMember(part, "class_name") == "__slice__" ? Member(part, "config") : part;
  if (!slice.is_object() || !slice.contains("start")) return "?";
  const std::string step = IndexText(Member(slice, "step"));
  return IndexText(Member(slice, "start")) + ":" + IndexText(Member(slice, "stop")) +
         (step.empty() ? "" : ":" + step);
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

}  // namespace

bool IsDivision(const std::string& function) {
  return function == "true_divide" || function == "truediv" || function == "divide";
}

const char* AsRescaling(const std::string& function, const ConstantOperand& constant,
                        json* config) {
  const bool first = constant.place == 0;
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
  if (constant.shape.empty()) {
    if (!scaled(constant.values[0], &scale, &offset)) return nullptr;
    (*config)["scale"] = scale;
    (*config)["offset"] = offset;
    return "Rescaling";
  }
  for (size_t i = 0; i + 1 < constant.shape.size(); ++i) {
    if (constant.shape[i] != 1) return nullptr;
  }
  for (const double number : constant.values) {
    if (!scaled(number, &scale, &offset)) return nullptr;
  }
  for (const double number : constant.values) {
    scaled(number, &scale, &offset);
    (*config)["scale"].push_back(scale);
    (*config)["offset"].push_back(offset);
  }
  return "Rescaling";
}

const char* AsNumberLayer(const std::string& function, const ConstantOperand& constant,
                          json* config) {
  const double number = constant.values[0];
  const bool first = constant.place == 0;
  if (const char* layer = AsComparison(function, first)) {
    (*config)["number"] = number;
    return layer;
  }
  if (function == "maximum" || function == "minimum") {
    (*config)[function == "maximum" ? "x_min" : "x_max"] = number;
    // Of equal values the first has the gradient.
    if (first) (*config)["open"] = true;
    return "Clip";
  }
  if (function == "power" || function == "pow") {
    (*config)[first ? "base" : "exponent"] = number;
    return "Power";
  }
  if (IsDivision(function) && first) {
    (*config)["numerator"] = number;
    return "Reciprocal";
  }
  return AsRescaling(function, constant, config);
}

const char* AsGetItem(json* entry, json* config) {
  const json* call = CallOf(*entry);
  if (call == nullptr) return nullptr;
  const json& args = Member(*call, "args");
  const json* arguments = ArgumentsOfCall(entry);
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

const char* AsTake(Operands* operands, json* config) {
  const json& axis = Member(*config, "axis");
  const bool indices = Member(*config, "indices").is_null() && operands->constants.size() == 1 &&
                       operands->constants[0].place == 1 && operands->constants[0].shape.size() < 2;
  if (!indices || !axis.is_number_integer()) return nullptr;
  for (const double place : operands->constants[0].values) {
    if (!(std::abs(place) < kMostPlaces) || std::trunc(place) != place) return nullptr;
    (*config)["indices"].push_back(static_cast<int64_t>(place));
  }
  const bool one = operands->constants[0].shape.empty();
  operands->constants.clear();
  if (!one) return "Take";
  const auto at = axis.get<int64_t>();
  const std::string place = IndexText((*config)["indices"][0]);
  if (at == 0 || std::abs(at) > HOPPER_MAX_RANK) return nullptr;
  for (const char* name : {"axis", "indices"}) config->erase(name);
  (*config)["key"] = KeyOfAxis(at, place);
  return "GetItem";
}

const char* AsLayerOfOne(const std::string& function, json* entry, json* config) {
  if (function == "negative" || function == "neg") {
    (*config)["scale"] = -1.0;
    return "Rescaling";
  }
  if (function == "logical_not") {
    (*config)["number"] = 0.0;
    return "Equal";
  }
  if (function == "one_hot") return "OneHot";
  if (function == "split") return AsSplit(entry, config);
  if (function == "reshape") return AsReshape(config);
  if (function == "transpose") return AsPermute(config);
  if (function == "cast") return AsCast(config);
  if (function == "pad") return AsPadding(entry, config);
  if (function == "resize") return AsResizing(entry, config);
  if (function == "norm") return AsNorm(entry, config);
  if (function == "flip" || function == "reverse") return AsFlip(entry, config);
  if (function == "repeat") return "Repeat";
  if (function == "tile") return AsTile(config);
  if (function == "normalize" || function == "l2_normalize") return AsUnit(entry, config);
  return AsActivation(function, config);
}

}  // namespace hopper
