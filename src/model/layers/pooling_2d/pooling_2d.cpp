#include "model/layers/pooling_2d/pooling_2d.h"

namespace hopper {
namespace layers {

Pooling2D::Pooling2D(LayerConfig& config, bool is_maximum, size_t axes)
    : Layer(config),
      maximum(is_maximum),
      pool(ReadImageSizes(config, "pool_size", axes, {2, 2})),
      strides(ReadImageSizes(config, "strides", axes, pool)),
      same(ReadPadding(config)) {
  ReadDataFormat(config);
}

Shape Pooling2D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  const WindowAxis height = Slide(inputs[0][0], 0);
  const WindowAxis width = Slide(inputs[0][1], 1);
  RequireFits(*this, inputs[0], pool, height, width);
  return {height.output, width.output, inputs[0][2]};
}

int64_t Pooling2D::Flops(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount({ElementCount(output), pool[0], pool[1]});
}

}  // namespace layers
}  // namespace hopper
