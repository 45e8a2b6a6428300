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

Round::Round(LayerConfig& config) : Elementwise(config, Function::kRound) {
  if (config.Int("decimals", 0) == 0) return;
  config.Fail(ErrorCode::kNotSupported, "decimals other than 0 are not supported",
              "Multiply before and divide behind it.");
}

}  // namespace layers
}  // namespace hopper
