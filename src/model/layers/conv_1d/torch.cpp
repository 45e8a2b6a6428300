#include "model/layers/conv_1d/conv_1d.h"
#include "model/network/over_time.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Conv1D& layer) {
  return OverTime(MakeOperator(static_cast<const Conv2D&>(layer)), /*kernels=*/1);
}

}  // namespace layers
}  // namespace hopper
