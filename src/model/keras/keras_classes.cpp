// Which of Keras' classes we know, and what to say about the others.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "model/keras/detours.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"
#include "model/tensor_operation.h"
#include "params/other_names.h"

namespace hopper {

using nlohmann::json;

namespace {

bool StartsWith(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// What Keras 3 writes between a layer that makes a mask and those that take it.
bool IsMaskOperation(const std::string& module, const std::string& class_name) {
  static const std::set<std::string> classes = {
      "Any", "ConvertToTensor", "LogicalAnd", "LogicalOr", "NotEqual", "OnesLike", "ZerosLike"};
  return Contains(module, ".ops") && classes.count(class_name) != 0;
}

// The package under which classes of ours are registered, as Keras registers users' classes.
constexpr const char* kPackage = "model_hopper>";

bool IsOwn(const json& entry) {
  return StartsWith(StringMember(entry, "registered_name"), kPackage);
}

void TakeNewName(json* entry) {
  const std::string class_name = StringMember(*entry, "class_name");
  for (const LayerType& type : LayerTable()) {
    const std::vector<std::string>& former = type.former_names;
    if (std::find(former.begin(), former.end(), class_name) == former.end()) continue;
    (*entry)["class_name"] = type.class_name;
    if (class_name == "CuDNNGRU" && Member(*entry, "config").is_object()) {
      (*entry)["config"]["reset_after"] = true;
    }
    return;
  }
}

}  // namespace

bool IsOfKeras(const json& entry) {
  const std::string module = StringMember(entry, "module");
  if (IsOwn(entry)) return true;
  // tf.keras registers its own class of InceptionResNetV2 as users register theirs.
  if (StartsWith(module, "keras.src.applications.")) return true;
  return !Contains(StringMember(entry, "registered_name"), ">") &&
         !Contains(StringMember(entry, "class_name"), ">") &&
         (module.empty() || StartsWith(module, "keras") || StartsWith(module, "tf_keras") ||
          StartsWith(module, "tensorflow"));
}

MaskOperation MaskOperationOf(const json& entry) {
  struct Row {
    const char* class_name;
    MaskOperation operation;
    bool last_axis;  // which it must name
  };
  // The batch, steps and features are three; ExpandDims counts the axis that it makes.
  static constexpr Row kRows[] = {{"All", MaskOperation::kAll, true},
                                  {"Any", MaskOperation::kAny, true},
                                  {"BroadcastTo", MaskOperation::kSame, false},
                                  {"Concatenate", MaskOperation::kConcatenate, true},
                                  {"ConvertToTensor", MaskOperation::kSame, false},
                                  {"ExpandDims", MaskOperation::kExpand, true},
                                  {"LogicalAnd", MaskOperation::kAnd, false},
                                  {"LogicalOr", MaskOperation::kOr, false},
                                  {"NotEqual", MaskOperation::kNotEqual, false},
                                  {"OnesLike", MaskOperation::kOnes, false},
                                  {"ZerosLike", MaskOperation::kZeros, false}};
  const std::string class_name = StringMember(entry, "class_name");
  const json& axis = Member(Member(entry, "config"), "axis");
  const bool follow = class_name == "Concatenate" && (axis == json(1) || axis == json(-2));
  if (follow) return MaskOperation::kFollow;
  for (const Row& row : kRows) {
    if (class_name != row.class_name) continue;
    const bool last = axis == json(-1) || axis == json(2);
    return row.last_axis && !last ? MaskOperation::kOther : row.operation;
  }
  return MaskOperation::kOther;
}

bool IsOperationOfMasks(const json& entry, const std::set<std::string>& masks) {
  // Of comparisons that are tensors here (x > 0) the last two give another one.
  static const std::set<std::string> classes = {"All",        "BroadcastTo", "Concatenate",
                                                "ExpandDims", "LogicalAnd",  "LogicalOr"};
  if (masks.empty() || !IsOperation(entry)) return false;
  if (classes.count(StringMember(entry, "class_name")) == 0) return false;
  const json& nodes = Member(entry, "inbound_nodes");
  if (!nodes.is_array() || nodes.empty()) return false;
  const json* values = &Member(nodes[0], "args");
  // Its tensors may be in a list.
  while (values->is_array() && !values->empty() && (*values)[0].is_array()) values = &(*values)[0];
  if (!values->is_array() || values->empty()) return false;
  return std::all_of(values->begin(), values->end(), [&](const json& value) {
    if (!value.is_object()) return true;  // a shape, or an axis
    const json& history = Member(Member(value, "config"), "keras_history");
    return history.is_array() && !history.empty() && history[0].is_string() &&
           masks.count(history[0].get<std::string>()) != 0;
  });
}

bool IsOperation(const json& entry) {
  const std::string module = StringMember(entry, "module");
  const std::string class_name = StringMember(entry, "class_name");
  return IsOfKeras(entry) &&
         (Contains(module, ".ops") || Contains(module, "activations.activations") ||
          class_name == "TFOpLambda" || class_name == "SlicingOpLambda" ||
          class_name == "TensorFlowOpLayer");
}

void ResolveClassName(json* entry) {
  // As tf.keras writes a registered class.
  if (const std::string name = StringMember(*entry, "class_name"); StartsWith(name, kPackage)) {
    (*entry)["registered_name"] = name;
    (*entry)["class_name"] = name.substr(std::string(kPackage).size());
  }
  TakeNewName(entry);
  for (const char* key : {"layer", "backward_layer"}) {  // what a wrapper repeats
    if (Member(Member(*entry, "config"), key).is_object()) TakeNewName(&(*entry)["config"][key]);
  }
  const LayerType* type = FindLayerType(StringMember(*entry, "class_name"));
  if (type == nullptr || *type->over_features == '\0' ||
      StringMember(Member(*entry, "config"), "data_format") != "channels_first") {
    return;
  }
  json& config = (*entry)["config"];
  config.erase("data_format");
  config["axis"] = 2;
  (*entry)["class_name"] = type->over_features;
  (*entry)["module"] = kOperationModule;
}

EntryClass ClassifyEntry(const json& entry, const std::string& name, const std::string& path,
                         std::vector<Problem>* problems) {
  const std::string class_name = StringMember(entry, "class_name");
  const std::string registered = StringMember(entry, "registered_name");
  const auto refuse = [&](const std::string& shown, const std::string& why, const Detour* detour) {
    const char* hint = detour == nullptr || *detour->hint == '\0'
                           ? "Replace it by supported layers; see hopper.layers()."
                           : detour->hint;
    problems->push_back(
        {ErrorCode::kNotSupported, "layer \"" + name + "\" " + shown + " is not supported",
         (why.empty() ? "" : why + " ") + "The layer is " + path + " of the architecture.", hint});
    return EntryClass::kUnknown;
  };
  if (IsOfKeras(entry)) {
    if (IsMaskOperation(StringMember(entry, "module"), class_name)) return EntryClass::kMask;
    if (IsOperation(entry)) {
      const std::string function = StringMember(Member(entry, "config"), "function");
      const Detour* detour = DetourOfOperation(OperationFunction(entry));
      const bool said = detour != nullptr && *detour->why != '\0';
      const std::string why = said ? detour->why : "It is an operation on tensors, not a layer.";
      if (!function.empty()) {
        return refuse("of class " + class_name + " (" + function + ")", why, detour);
      }
      // A layer of that name may be there.
      const bool activates = Contains(StringMember(entry, "module"), "activations.activations");
      return refuse((activates ? "of operation keras.activations." : "of operation keras.ops.") +
                        OperationFunction(entry),
                    why, detour);
    }
    if (class_name == "Sequential" || class_name == "Functional" || class_name == "Model") {
      return EntryClass::kModel;
    }
    if (class_name == "InputLayer") return EntryClass::kInput;
    const LayerType* type = FindLayerType(class_name);
    const bool made = StringMember(entry, "module") == kOperationModule;
    if (type != nullptr && (made || IsOwn(entry) || !IsOperationOnly(*type))) {
      return EntryClass::kLayer;
    }
    if (const char* argument = ArgumentOfOneCell(entry); argument != nullptr) {
      static const Detour kOneByOne = {
          "", "",
          "Write keras.layers.LSTM and its like behind each other, return_sequences=True in all "
          "but the last; go_backwards=True of the first alone is the same where no mask comes in."};
      return refuse(std::string("of class RNN: argument \"") + argument + "\" of several cells", "",
                    &kOneByOne);
    }
    if (const Detour* detour = DetourOfLayer(class_name); detour != nullptr) {
      return refuse("of class " + class_name, detour->why, detour);
    }
  }
  std::vector<std::string> names = {"InputLayer", "Sequential", "Functional"};
  for (const LayerType& type : LayerTable()) {
    if (!IsOperationOnly(type)) names.emplace_back(type.class_name);
  }
  const bool custom = !IsOfKeras(entry);
  std::string hint = custom ? "Build the model of Keras' own layers; what your class computes is "
                              "Python code, which the file does not hold."
                            : NearestNameHint(class_name, names, OtherLayerNames());
  if (hint.empty()) hint = "List of supported classes: SELECT * FROM hopper.layers();";
  const std::string& shown = Contains(registered, ">") ? registered : class_name;
  problems->push_back({ErrorCode::kNotSupported, "layer class \"" + shown + "\" is not known",
                       "It is the class of layer \"" + name + "\"" +
                           (name == path ? "" : ", " + path + " of the architecture") + ".",
                       hint});
  return EntryClass::kUnknown;
}

}  // namespace hopper
