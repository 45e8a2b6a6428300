#include "model/layers/reshape/reshape.h"

#include <algorithm>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Reshape::Reshape(LayerConfig& config) : Layer(config), target(config.Ints("target_shape", 0, {})) {
  int unknown = 0;
  for (int64_t size : target) {
    if (size == -1) ++unknown;
    if (size < -1 || unknown > 1) {
      config.Fail(ErrorCode::kInvalidParameter,
                  "argument \"target_shape\" allows one -1 and otherwise sizes of 0 or more");
      target.clear();
      break;
    }
  }
}

Shape Reshape::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const int64_t count = ElementCount(inputs[0]);
  Shape output = target;
  Shape stated = target;
  stated.erase(std::remove(stated.begin(), stated.end(), -1), stated.end());
  const int64_t known = ElementCount(stated);
  for (int64_t& size : output) {
    if (size == -1) size = known == 0 ? 0 : count / known;
  }
  if (ElementCount(output) != count) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class Reshape: an input of shape " +
                    ShapeText(inputs[0]) + " cannot take the shape " + ShapeText(target));
  }
  return output;
}

}  // namespace layers
}  // namespace hopper
