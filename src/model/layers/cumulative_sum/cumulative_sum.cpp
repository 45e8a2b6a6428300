#include "model/layers/cumulative_sum/cumulative_sum.h"

namespace hopper {
namespace layers {

CumulativeSum::CumulativeSum(LayerConfig& config) : SameShape(config), axis(config.Int("axis", 0)) {
  if (axis == 0) {
    config.Fail(ErrorCode::kNotSupported, "it would mix the examples of a batch",
                "Give it an axis of an example, for example axis=1.");
  }
  for (const char* key : {"exclusive", "reverse"}) config.RequireUnset(key);
}

Shape CumulativeSum::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  AxisOf(inputs[0]);
  return inputs[0];
}

}  // namespace layers
}  // namespace hopper
