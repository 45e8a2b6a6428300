#include "model/keras/ensemble.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

namespace {

constexpr char kEnsembleName[] = "ensemble_model";

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

// A layer that is called once, on these layers; `config` is the text of an object.
std::string LayerText(const std::string& class_name, const std::string& name,
                      const std::string& config, const std::vector<std::string>& on) {
  std::string inbound;
  for (const std::string& layer : on) {
    inbound += (inbound.empty() ? "[" : ", [") + Quoted(layer) + ", 0, 0, {}]";
  }
  if (!on.empty()) inbound = '[' + inbound + ']';
  // As Keras names the class of a user.
  const std::string registered =
      class_name == "Temperature" ? R"(, "registered_name": "model_hopper>Temperature")" : "";
  return R"({"class_name": )" + Quoted(class_name) + registered + R"(, "name": )" + Quoted(name) +
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

struct Inputs {
  std::vector<std::string> names;
  std::string layers;  // each with a comma behind it
  std::string list;    // [["features", 0, 0]] without the outer brackets
};

Inputs InputsOf(const std::vector<DataInput>& data) {
  Inputs inputs;
  for (const DataInput& input : data) {
    inputs.names.push_back(input.name.empty() ? "features" : input.name);
    inputs.layers += InputText(input, inputs.names.back()) + ", ";
    inputs.list += (inputs.list.empty() ? "[" : ", [") + Quoted(inputs.names.back()) + ", 0, 0]";
  }
  return inputs;
}

// The whole model as one layer; `whose` it is, for a message.
std::string ModelText(std::string_view architecture, const std::string& whose,
                      const std::string& name, const std::vector<std::string>& inputs) {
  JsonDocument document;
  std::vector<Problem> problems;
  if (!ParseJsonText(architecture, &document, &problems)) throw Error(problems.front());
  nlohmann::json& config = (*document.root())["config"];
  if (!config.is_object()) {
    throw Error(ErrorCode::kInvalidParameter,
                "the architecture" + whose + " cannot be a part of another one");
  }
  config["name"] = name;
  return LayerText((*document.root())["class_name"].get<std::string>(), name, config.dump(),
                   inputs);
}

std::string FunctionalText(const std::string& name, const Inputs& inputs, const std::string& layers,
                           const std::string& last) {
  return R"({"class_name": "Functional", "keras_version": "2.4.0", "backend": "tensorflow", )"
         R"("config": {"name": )" +
         Quoted(name) + R"(, "layers": [)" + inputs.layers + layers + R"(], "input_layers": [)" +
         inputs.list + R"(], "output_layers": [[)" + Quoted(last) + ", 0, 0]]}}";
}

}  // namespace

std::string EnsembleJson(const std::vector<EnsembleMember>& members,
                         const std::vector<DataInput>& data) {
  const Inputs inputs = InputsOf(data);
  std::vector<std::string> parts;
  std::string layers;
  for (const EnsembleMember& member : members) {
    const std::string key = std::to_string(member.key);
    const std::string name = "member_" + key;
    parts.push_back("share_" + key);
    layers += ModelText(member.architecture, " of configuration " + key, name, inputs.names) + ", ";
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
  return FunctionalText(kEnsembleName, inputs, layers, last);
}

std::string CalibratedJson(std::string_view model, const std::vector<DataInput>& data,
                           double temperature) {
  const Inputs inputs = InputsOf(data);
  // Whoever looks for ensembles finds one that has a temperature, too.
  const bool is_ensemble = model.find(Quoted(kEnsembleName)) != std::string_view::npos;
  const std::string name = is_ensemble ? kEnsembleName : "classifier";
  const std::string last = "temperature";
  return FunctionalText(
      "calibrated_model", inputs,
      ModelText(model, "", name, inputs.names) + ", " +
          LayerText("Temperature", last,
                    R"({"name": "temperature", "temperature": )" + NumberText(temperature) + "}",
                    {name}),
      last);
}

}  // namespace hopper
