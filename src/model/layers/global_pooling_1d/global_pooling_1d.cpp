#include "model/layers/global_pooling_1d/global_pooling_1d.h"

#include "model/layers/window.h"

namespace hopper {
namespace layers {

Shape GlobalPooling1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  const int64_t features = inputs[0][1];
  return keepdims ? Shape{1, features} : Shape{features};
}

}  // namespace layers
}  // namespace hopper
