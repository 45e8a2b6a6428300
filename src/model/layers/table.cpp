#include "model/layers/table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hopper {
namespace {

template <typename... L>
std::vector<LayerType> TypesOf(LayerList<L...> /*layers*/) {
  return {{L::kName, L::kOtherName, L::FormerNames(), L::kWeights, L::kDescription,
           L::kOverFeatures, L::kCompletion, L::kMakesIds, L::kActivates, L::kTraining,
           L::kNamesInputs, L::kCausal, L::kSince,
           [](LayerConfig& config) -> std::unique_ptr<Layer> {
             return std::make_unique<L>(config);
           }}...};
}

}  // namespace

const std::vector<LayerType>& LayerTable() {
  static const std::vector<LayerType> table = TypesOf(Layers());
  return table;
}

std::vector<std::string> ArgumentsOf(const LayerType& type) {
  std::vector<std::string> names;
  for (const KerasFamily family : {KerasFamily::kKeras3, KerasFamily::kKeras2}) {
    const nlohmann::json nothing = nlohmann::json::object();
    std::vector<Problem> problems;  // of what is missing
    LayerConfig config(nothing, type.class_name, "layer", family, &problems);
    type.make(config);
    for (const std::string& name : config.asked()) {
      if (name == "activity_regularizer" || name == "lr_factor" || name == "weight_decay_factor") {
        continue;
      }
      // Of an InputLayer among several, which the parser writes itself.
      if (name == "first") continue;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

const LayerType* FindLayerType(const std::string& class_name) {
  for (const LayerType& type : LayerTable()) {
    if (class_name == type.class_name) return &type;
    if (*type.other_name != '\0' && class_name == type.other_name) return &type;
  }
  return nullptr;
}

}  // namespace hopper
