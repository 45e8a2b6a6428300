#include "model/layers/conv_2d/conv_2d.h"
#include "model/network/activate.h"
#include "model/network/convolve.h"
#include "model/network/lanes.h"

namespace hopper {
namespace layers {
namespace {

// Multiply-adds up to which several models' convolutions are better off together.
constexpr double kGroupedWork = 1e7;

class Conv2DOperator : public Operator {
 public:
  explicit Conv2DOperator(const Conv2D& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    // Views: height x width x channels in memory is libtorch's channels-last format.
    at::Tensor x = inputs[0].permute({0, 3, 1, 2});
    at::Tensor y = Convolve(layer_, std::move(x), weights[0].permute({3, 2, 0, 1}),
                            layer_.use_bias ? std::optional<at::Tensor>(weights[1]) : std::nullopt,
                            layer_.groups);
    const bool activate = AppliesActivation(layer_.activation, context.linear);
    const bool by_element = ActsByElement(layer_.activation);
    if (activate && by_element) y = ActivateOwned(std::move(y), layer_.activation);
    y = y.permute({0, 2, 3, 1});
    if (activate && !by_element) y = Activate(y, layer_.activation);
    return y;
  }

  // Lanes whose own convolution would not fill a device are groups of one: groups x channels.
  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                         const std::vector<at::Tensor>& weights,
                         const LaneContext& context) const override {
    const int64_t lanes = static_cast<int64_t>(inputs[0].lanes());
    const at::Tensor& kernel = weights[0];  // [lanes, height, width, in, out]
    const auto work =                       // multiply-adds of a lane, where padding adds no output
        static_cast<double>(inputs[0].lane_elements()) * static_cast<double>(kernel.size(1)) *
        static_cast<double>(kernel.size(2)) * static_cast<double>(layer_.filters);
    if (lanes == 1 || layer_.groups != 1 || work > kGroupedWork || !inputs[0].is_stacked() ||
        !ActsByElement(layer_.activation)) {
      return Operator::ForwardLanes(inputs, weights, context);
    }
    const at::Tensor& input = inputs[0].Stacked();  // [lanes, batch, height, width, channels]
    at::Tensor y = Convolve(
        layer_,
        input.permute({1, 0, 4, 2, 3})
            .reshape({input.size(1), lanes * input.size(4), input.size(2), input.size(3)}),
        kernel.permute({0, 4, 3, 1, 2})
            .reshape({lanes * layer_.filters, kernel.size(3), kernel.size(1), kernel.size(2)}),
        layer_.use_bias ? std::optional<at::Tensor>(weights[1].reshape({lanes * layer_.filters}))
                        : std::nullopt,
        lanes);
    if (AppliesActivation(layer_.activation, context.linear)) {
      y = ActivateOwned(std::move(y), layer_.activation);
    }
    y = y.reshape({input.size(1), lanes, layer_.filters, y.size(2), y.size(3)});
    return LaneValue(y.permute({1, 0, 3, 4, 2}));
  }

 private:
  const Conv2D& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Conv2D& layer) {
  return std::make_unique<Conv2DOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
