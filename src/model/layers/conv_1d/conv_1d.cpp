#include "model/layers/conv_1d/conv_1d.h"

namespace hopper {
namespace layers {
namespace {

// Steps before the first that causal padding may add: memory for each example, whatever a file
// says.
constexpr int64_t kFarthestPast = 1 << 20;

}  // namespace

Shape Conv1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  if (causal && (kernel[1] - 1) * dilation[1] > kFarthestPast) {
    throw Error(ErrorCode::kLimitExceeded, "layer \"" + name() +
                                               "\" of class Conv1D: a causal window of " +
                                               std::to_string(kernel[1]) + " steps with dilation " +
                                               std::to_string(dilation[1]) + " reaches too far");
  }
  const Shape image = Conv2D::OutputShape({AsImage(inputs[0])});
  return {image[1], image[2]};
}

std::vector<WeightSpec> Conv1D::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights = Conv2D::Weights({AsImage(inputs[0])});
  weights[0].shape.erase(weights[0].shape.begin());
  return weights;
}

int64_t Conv1D::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return Conv2D::Flops({AsImage(inputs[0])}, AsImage(output));
}

}  // namespace layers
}  // namespace hopper
