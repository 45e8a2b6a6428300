#include "model/layers/table.h"

namespace hopper {
namespace {

template <typename... L>
std::vector<LayerType> TypesOf(LayerList<L...> /*layers*/) {
  return {{L::kName, L::kWeights, L::kDescription, L::kActivates, L::kHeedsTraining,
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

const LayerType* FindLayerType(const std::string& class_name) {
  for (const LayerType& type : LayerTable()) {
    if (class_name == type.class_name) return &type;
  }
  return nullptr;
}

}  // namespace hopper
