#include "model/layers/power/power.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Power::Power(LayerConfig& config) : Layer(config), number(config.Number("exponent", 1.0)) {
  if (!config.Has("base")) return;
  of = Of::kNumber;
  number = config.Number("base", 1.0);
  if (!(number > 0.0)) {
    config.Fail(ErrorCode::kNotSupported,
                "a power of a number that is not above 0 is not supported");
  }
}

Shape Power::OutputShape(const std::vector<Shape>& inputs) const {
  if (inputs.size() != 1) RequireInputs(*this, inputs, 2);
  return BroadcastShape(*this, inputs);
}

int64_t Power::Flops(const std::vector<Shape>& /*inputs*/, const Shape& output) const {
  return ElementCount(output);
}

// Of two inputs the power is made twice, each with a base of its own.
int64_t Power::AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const {
  return Product({inputs.size() == 1 ? 1 : 6, ElementCount(output)});
}

}  // namespace layers
}  // namespace hopper
