// UnitNormalization: each example divided by its Euclidean norm along one or more axes.
#pragma once

#include "model/layers/layer_normalization/layer_normalization.h"

namespace hopper {
namespace layers {

struct UnitNormalization : AxesNormalization {
  static constexpr const char* kName = "UnitNormalization";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "division by an example's norm";
  static constexpr const char* kSince = "2.9";

  explicit UnitNormalization(LayerConfig& config) : AxesNormalization(config) {}
};
std::unique_ptr<Operator> MakeOperator(const UnitNormalization& layer);
ops::Value Export(const UnitNormalization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
