#include "model/layers/border_2d/border_2d.h"

#include "model/layers/inputs.h"
#include "model/layers/window.h"

namespace hopper {
namespace layers {

Border2D::Border2D(LayerConfig& config, const char* key, int64_t sign)
    : Layer(config), ends(config.Ends(key, 2, sign > 0 ? 1 : 0)) {
  for (int64_t& end : ends) end *= sign;
  ReadDataFormat(config);
}

Shape Border2D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  const Shape& image = inputs[0];
  const Shape output{image[0] + ends[0] + ends[1], image[1] + ends[2] + ends[3], image[2]};
  if (output[0] < 1 || output[1] < 1) {
    ThrowUnfit(*this, "nothing is left of an input of shape " + ShapeText(image));
  }
  return output;
}

}  // namespace layers
}  // namespace hopper
