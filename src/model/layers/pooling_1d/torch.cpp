#include "model/layers/pooling_1d/pooling_1d.h"
#include "model/network/over_time.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Pooling1D& layer) {
  return OverTime(MakeOperator(static_cast<const Pooling2D&>(layer)), /*kernels=*/0);
}

}  // namespace layers
}  // namespace hopper
