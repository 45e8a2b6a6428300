#include "model/layers/attention/series.h"

namespace hopper {
namespace layers {

void RequireAttendedSeries(const Layer& layer, const std::vector<Shape>& inputs) {
  const std::string shown = "layer \"" + layer.name() + "\" of class " + layer.class_name();
  if (inputs.size() != 2 && inputs.size() != 3) {
    throw Error(ErrorCode::kInvalidParameter, shown +
                                                  " needs query, value and, if given, key, not " +
                                                  std::to_string(inputs.size()) + " inputs");
  }
  for (const Shape& input : inputs) {
    if (input.size() == 2) continue;
    throw Error(ErrorCode::kNotSupported,
                shown + " needs inputs of steps x features, not one of shape " + ShapeText(input));
  }
}

double ScoreDropout(LayerConfig& config) { return config.Number("dropout", 0.0, kShare); }

}  // namespace layers
}  // namespace hopper
