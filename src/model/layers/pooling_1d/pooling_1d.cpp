#include "model/layers/pooling_1d/pooling_1d.h"

namespace hopper {
namespace layers {

Shape Pooling1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  const Shape image = Pooling2D::OutputShape({AsImage(inputs[0])});
  return {image[1], image[2]};
}

}  // namespace layers
}  // namespace hopper
