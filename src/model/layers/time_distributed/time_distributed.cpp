#include "model/layers/time_distributed/time_distributed.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

Shape WithoutSteps(const Shape& input) { return {input.begin() + 1, input.end()}; }

}  // namespace

TimeDistributed::TimeDistributed(LayerConfig& config)
    : Layer(config), inner_(config.GetLayer("layer")) {}

Shape TimeDistributed::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() < 2) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class TimeDistributed needs an input of steps of " +
                    "something, not " + ShapeText(inputs[0]));
  }
  Shape output = inner().OutputShape({WithoutSteps(inputs[0])});
  output.insert(output.begin(), inputs[0][0]);
  return output;
}

std::vector<WeightSpec> TimeDistributed::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights = inner().Weights({WithoutSteps(inputs[0])});
  for (WeightSpec& weight : weights) weight.trainable = weight.trainable && inner().trainable();
  return weights;
}

int64_t TimeDistributed::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const Shape step = WithoutSteps(inputs[0]);
  return Product({inputs[0][0], inner().Flops({step}, WithoutSteps(output))});
}

int64_t TimeDistributed::AutogradFloats(const std::vector<Shape>& inputs,
                                        const Shape& output) const {
  const Shape step = WithoutSteps(inputs[0]);
  return Product({inputs[0][0], inner().AutogradFloats({step}, WithoutSteps(output))});
}

}  // namespace layers
}  // namespace hopper
