#include "model/layers/separable_conv_1d/separable_conv_1d.h"
#include "model/network/over_time.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const DepthwiseConv1D& layer) {
  return OverTime(MakeOperator(static_cast<const DepthwiseConv2D&>(layer)), /*kernels=*/1);
}

std::unique_ptr<Operator> MakeOperator(const SeparableConv1D& layer) {
  return OverTime(MakeOperator(static_cast<const SeparableConv2D&>(layer)), /*kernels=*/2);
}

}  // namespace layers
}  // namespace hopper
