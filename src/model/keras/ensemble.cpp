#include "model/keras/ensemble.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

namespace {

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

// A layer that is called once, on these layers; `config` is the text of an object.
std::string LayerText(const std::string& class_name, const std::string& name,
                      const std::string& config, const std::vector<std::string>& on) {
  std::string inbound;
  for (const std::string& layer : on) {
    inbound += (inbound.empty() ? "[" : ", [") + Quoted(layer) + ", 0, 0, {}]";
  }
  if (!on.empty()) inbound = '[' + inbound + ']';
  return R"({"class_name": )" + Quoted(class_name) + R"(, "name": )" + Quoted(name) +
         R"(, "config": )" + config + R"(, "inbound_nodes": [)" + inbound + "]}";
}

std::string InputText(const DataInput& input, const std::string& name) {
  std::string shape = "null";
  for (const int64_t size : input.shape) shape += ", " + std::to_string(size);
  return LayerText("InputLayer", name,
                   R"({"name": )" + Quoted(name) + R"(, "batch_input_shape": [)" + shape +
                       R"(], "dtype": "float32"})",
                   {});
}

// The whole model of a member as one layer.
std::string MemberText(const EnsembleMember& member, const std::string& name,
                       const std::vector<std::string>& inputs) {
  JsonDocument document;
  std::vector<Problem> problems;
  if (!ParseJsonText(member.architecture, &document, &problems)) throw Error(problems.front());
  nlohmann::json& config = (*document.root())["config"];
  if (!config.is_object()) {
    throw Error(ErrorCode::kInvalidParameter, "the architecture of configuration " +
                                                  std::to_string(member.key) +
                                                  " cannot be a part of an ensemble");
  }
  config["name"] = name;
  return LayerText((*document.root())["class_name"].get<std::string>(), name, config.dump(),
                   inputs);
}

}  // namespace

std::string EnsembleJson(const std::vector<EnsembleMember>& members,
                         const std::vector<DataInput>& inputs) {
  std::vector<std::string> names;
  std::vector<std::string> parts;
  std::string layers;
  std::string first;
  for (const DataInput& input : inputs) {
    names.push_back(input.name.empty() ? "features" : input.name);
    layers += InputText(input, names.back()) + ", ";
    first += (first.empty() ? "[" : ", [") + Quoted(names.back()) + ", 0, 0]";
  }
  for (const EnsembleMember& member : members) {
    const std::string name = "member_" + std::to_string(member.key);
    parts.push_back("share_" + std::to_string(member.key));
    layers += MemberText(member, name, names) + ", ";
    layers += LayerText("Rescaling", parts.back(),
                        R"({"name": )" + Quoted(parts.back()) + R"(, "scale": )" +
                            NumberText(member.share) + R"(, "offset": 0})",
                        {name}) +
              ", ";
  }
  std::string last = parts.front();
  if (parts.size() > 1) {
    last = "ensemble";
    layers += LayerText("Add", last, R"({"name": "ensemble"})", parts) + ", ";
  }
  layers.resize(layers.size() - 2);
  return R"({"class_name": "Functional", "keras_version": "2.4.0", "backend": "tensorflow", )"
         R"("config": {"name": "ensemble_model", "layers": [)" +
         layers + R"(], "input_layers": [)" + first + R"(], "output_layers": [[)" + Quoted(last) +
         ", 0, 0]]}}";
}

}  // namespace hopper
