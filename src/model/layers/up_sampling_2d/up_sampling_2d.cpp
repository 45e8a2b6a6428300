#include "model/layers/up_sampling_2d/up_sampling_2d.h"

#include "model/layers/window.h"

namespace hopper {
namespace layers {

UpSampling2D::UpSampling2D(LayerConfig& config)
    : Layer(config), size(ReadSizes(config, "size", 2, {2, 2})) {
  ReadDataFormat(config);
  const std::string interpolation = config.String("interpolation", "nearest");
  bilinear = interpolation == "bilinear";
  if (!bilinear && interpolation != "nearest") {
    config.Fail(ErrorCode::kNotSupported,
                "interpolation \"" + interpolation + "\" is not supported",
                "Use \"nearest\" or \"bilinear\".");
  }
}

Shape UpSampling2D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  return {inputs[0][0] * size[0], inputs[0][1] * size[1], inputs[0][2]};
}

int64_t UpSampling2D::Flops(const std::vector<Shape>&, const Shape& output) const {
  return bilinear ? ElementCount({ElementCount(output), 8}) : 0;
}

}  // namespace layers
}  // namespace hopper
