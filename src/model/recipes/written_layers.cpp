#include "model/recipes/written_layers.h"

#include <set>

namespace hopper {

std::string WholeNumbers(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const int64_t number : numbers) texts.push_back(std::to_string(number));
  return JsonList(texts);
}

std::string WrittenLayers::Add(const std::string& class_name, const std::string& name,
                               const std::vector<std::string>& inputs, JsonObjectText config) {
  config.Add("name", JsonString(name));
  JsonObjectText entry;
  entry.Add("class_name", JsonString(class_name));
  if (functional_) entry.Add("name", JsonString(name));
  entry.Add("config", config.Text());
  static const std::set<std::string> own = {"CategoryEmbedding",
                                            "DenseBatchEnsemble",
                                            "EnsembleAverage",
                                            "NTKDense",
                                            "ParametricActivation",
                                            "PeriodicEmbedding",
                                            "Take"};
  if (own.count(class_name) != 0) {
    entry.Add("registered_name", JsonString("model_hopper>" + class_name));
  }
  if (functional_) {
    std::vector<std::string> nodes;
    nodes.reserve(inputs.size());
    for (const std::string& input : inputs) nodes.push_back("[" + JsonString(input) + ",0,0,{}]");
    entry.Add("inbound_nodes", inputs.empty() ? "[]" : "[" + JsonList(nodes) + "]");
  }
  layers_.push_back(entry.Text());
  return name;
}

JsonObjectText WrittenLayers::Model(const std::string& name,
                                    const std::vector<std::string>& outputs) const {
  JsonObjectText config;
  if (functional_) config.Add("name", JsonString(name));
  config.Add("layers", JsonList(layers_));
  if (functional_) {
    std::vector<std::string> ends;
    ends.reserve(outputs.size());
    for (const std::string& output : outputs) ends.push_back("[" + JsonString(output) + ",0,0]");
    config.Add("input_layers", R"([["input",0,0]])").Add("output_layers", JsonList(ends));
  }
  JsonObjectText model;
  model.Add("class_name", functional_ ? "\"Functional\"" : "\"Sequential\"");
  return model.Add("config", config.Text());
}

}  // namespace hopper
