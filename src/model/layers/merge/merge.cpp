#include "model/layers/merge/merge.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Shape Merge::OutputShape(const std::vector<Shape>& inputs) const {
  if (kind == Kind::kSubtract || kind == Kind::kDivide) RequireInputs(*this, inputs, 2);
  return BroadcastShape(*this, inputs);
}

int64_t Merge::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return ElementCount(output) *
         static_cast<int64_t>(inputs.size() - (kind == Kind::kAverage ? 0 : 1));
}

}  // namespace layers
}  // namespace hopper
