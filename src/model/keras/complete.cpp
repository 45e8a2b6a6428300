#include "model/keras/complete.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

void SetModule(const char* module, json* entry) {
  if (entry->contains("module")) return;
  (*entry)["module"] = module;
  (*entry)["registered_name"] = nullptr;
}

// A list of numbers and nulls.
void CopyShape(const json& from, json* to) {
  *to = json::array();
  for (const json& size : from) {
    if (!size.is_structured()) to->push_back(size);
  }
}

void CompleteLayer(json* entry, const std::string& path);

// `name`: what ParseModel() calls a model that has none.
void CompleteSequential(json* entry, const std::string& name, const std::string& path) {
  SetModule("keras", entry);
  json& config = (*entry)["config"];
  if (!config.is_object()) return;
  if (!config.contains("name")) {
    const std::string own = StringMember(*entry, "name");
    config["name"] = own.empty() ? name : own;
  }
  json& layers = config["layers"];
  if (!layers.is_array() || layers.empty()) return;
  for (size_t i = 0; i < layers.size(); ++i) {
    CompleteLayer(&layers[i], path + "config.layers[" + std::to_string(i) + "]");
  }
  // Keras 3 refuses it on a layer.
  json& first = layers[0];
  if (StringMember(first, "class_name") == "InputLayer" || !first.contains("config")) return;
  // The one that ParseModel() takes comes last.
  for (const char* key : {"batch_input_shape", "batch_shape"}) {
    json& of_first = first["config"];
    if (!of_first.is_object() || !Member(of_first, key).is_array()) continue;
    CopyShape(Member(of_first, key), &config["build_input_shape"]);
    of_first[key].clear();
    of_first.erase(key);
  }
}

void CompleteLayer(json* entry, const std::string& path) {
  const std::string class_name = StringMember(*entry, "class_name");
  if (class_name.empty()) return;
  if (class_name == "Sequential") return CompleteSequential(entry, path, path + ".");
  SetModule("keras.layers", entry);
  json& config = (*entry)["config"];
  if (config.is_null()) config = json::object();
  if (!config.is_object()) return;
  if (const LayerType* type = FindLayerType(class_name); type != nullptr) {
    JsonDocument completion;
    std::vector<Problem> problems;
    if (!ParseAnyJson(type->completion, &completion, &problems)) {
      throw Error(ErrorCode::kInternal, problems.front().message);
    }
    for (auto& [key, value] : completion.root()->items()) {
      if (!config.contains(key)) config[key] = std::move(value);
    }
  }
  for (auto& [key, value] : config.items()) {  // an activation that is a layer
    if (FindLayerType(StringMember(value, "class_name")) != nullptr) {
      SetModule("keras.layers", &value);
    }
  }
}

// What a file says anywhere of types and classes that are read as others.
struct OtherReadings {
  std::string policy;  // the first one: "mixed_float16"
  std::vector<std::string> cudnn;
};

void LookFor(const json& value, OtherReadings* found) {
  if (!value.is_structured()) return;
  std::string policy;
  if (found->policy.empty() && DtypeName(Member(value, "dtype"), &policy) &&
      IsMixedPolicy(policy)) {
    found->policy = policy;
  }
  if (StringMember(value, "class_name").rfind("CuDNN", 0) == 0) {
    found->cudnn.push_back(StringMember(Member(value, "config"), "name"));
  }
  for (const json& inner : value) LookFor(inner, found);
}

}  // namespace

std::vector<Problem> NotesOn(std::string_view text) {
  JsonDocument document;
  std::vector<Problem> notes;
  if (!ParseJsonText(text, &document, &notes)) return {};
  OtherReadings found;
  LookFor(*document.root(), &found);
  if (!found.policy.empty()) {
    notes.push_back(
        {ErrorCode::kNotSupported, "dtype \"" + found.policy + "\" counts as \"float32\"",
         "Weights are float32 in both.", "Training in bfloat16 is asked for by dtype => 'bf16'."});
  }
  if (!found.cudnn.empty()) {
    notes.push_back(
        {ErrorCode::kNotSupported,
         "layer \"" + found.cudnn[0] +
             "\" of class CuDNNLSTM or CuDNNGRU counts as LSTM or "
             "GRU(reset_after=True)" +
             (found.cudnn.size() == 1 ? "" : ", and so do others"),
         "They compute the same, but Keras has their weights in another order.",
         "For trained weights, build the model with these layers in Keras, let its load_weights() "
         "read the file, and take its get_weights()."});
  }
  return notes;
}

std::optional<std::string> CompleteModel(std::string_view text) {
  JsonDocument document;
  std::vector<Problem> problems;
  if (!ParseJsonText(text, &document, &problems)) return std::nullopt;
  json* root = document.root();
  const auto written = [&] { return root->dump(-1, ' ', /*ensure_ascii=*/true); };
  // Encoded as JSON twice: what is inside.
  const bool inside = text.substr(text.find_first_not_of(" \t\r\n"), 1) == "\"";
  if (root->contains("module") || root->contains("keras_version") ||
      StringMember(*root, "class_name") != "Sequential" || !Member(*root, "config").is_object()) {
    return inside ? std::optional(written()) : std::nullopt;
  }
  // A module is a mark of Keras 3, and the text may have been read as one of Keras 2.
  if (DetectFamily(*root) == KerasFamily::kKeras2) (*root)["keras_version"] = "2.15.0";
  CompleteSequential(root, "sequential", "");
  return written();
}

}  // namespace hopper
