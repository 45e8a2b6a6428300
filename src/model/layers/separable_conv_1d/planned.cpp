#include "model/layers/separable_conv_1d/separable_conv_1d.h"
#include "model/planned/as_image.h"

namespace hopper {
namespace layers {

std::unique_ptr<PlannedOp> Plan(const DepthwiseConv1D& layer, PlanNode* node) {
  const NodeAsImage image(node);
  return Plan(static_cast<const DepthwiseConv2D&>(layer), node);
}

std::unique_ptr<PlannedOp> Plan(const SeparableConv1D& layer, PlanNode* node) {
  const NodeAsImage image(node);
  return Plan(static_cast<const SeparableConv2D&>(layer), node);
}

}  // namespace layers
}  // namespace hopper
