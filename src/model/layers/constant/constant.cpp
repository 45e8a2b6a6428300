#include "model/layers/constant/constant.h"

#include <algorithm>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Constant::Constant(LayerConfig& config) : Layer(config), shape(config.Ints("shape", 0, {})) {
  for (const double value : config.Numbers("values", {0.0})) {
    values.push_back(static_cast<float>(value));
  }
  const bool sizes =
      std::all_of(shape.begin(), shape.end(), [](int64_t size) { return size >= 1; });
  if (!sizes || static_cast<int64_t>(values.size()) != ElementCount(shape)) {
    config.Fail(
        ErrorCode::kInvalidParameter,
        std::to_string(values.size()) + " values do not fill the shape " + ShapeText(shape));
  }
}

Shape Constant::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return shape;
}

}  // namespace layers
}  // namespace hopper
