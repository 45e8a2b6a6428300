#include "model/layers/global_pooling_2d/global_pooling_2d.h"

#include "model/layers/window.h"

namespace hopper {
namespace layers {

GlobalPooling2D::GlobalPooling2D(LayerConfig& config, bool is_maximum)
    : Layer(config), maximum(is_maximum), keepdims(config.Bool("keepdims", false)) {
  ReadDataFormat(config);
}

Shape GlobalPooling2D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  const int64_t channels = inputs[0][2];
  return keepdims ? Shape{1, 1, channels} : Shape{channels};
}

int64_t GlobalPooling2D::Flops(const std::vector<Shape>& inputs, const Shape&) const {
  return ElementCount(inputs[0]);
}

}  // namespace layers
}  // namespace hopper
