#include "model/layers/elementwise/elementwise.h"

namespace hopper {
namespace layers {

int64_t Elementwise::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount(output);
}

Clip::Clip(LayerConfig& config) : Elementwise(config, Function::kClip) {
  least = config.Number("x_min", -INFINITY);
  most = config.Number("x_max", INFINITY);
  ends_have_gradient = !config.Bool("open", false);
  if (!(least <= most)) {
    config.Fail(ErrorCode::kInvalidParameter, "the least value must not be above the most");
  }
}

Power::Power(LayerConfig& config) : Elementwise(config, Function::kPower) {
  number = config.Number("exponent", 1.0);
  if (!config.Has("base")) return;
  function = Function::kPowerOf;
  number = config.Number("base", 1.0);
  if (!(number > 0.0)) {
    config.Fail(ErrorCode::kNotSupported,
                "a power of a number that is not above 0 is not supported");
  }
}

}  // namespace layers
}  // namespace hopper
