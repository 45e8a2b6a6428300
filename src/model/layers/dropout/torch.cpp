#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include "model/layers/dropout/dropout.h"
#include "model/network/lanes.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

class DropoutOperator : public Operator {
 public:
  explicit DropoutOperator(const DropoutLayer& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];
    if (!context.training || layer_.rate == 0.0) return x;
    return at::mul(x, RandomMask(context, NoiseSizes(x.sizes().vec(), 0), layer_.rate, x));
  }

  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs, const std::vector<at::Tensor>&,
                         const LaneContext& context) const override {
    if (!context.training || layer_.rate == 0.0) return inputs[0];
    std::vector<int64_t> sizes;
    if (inputs[0].is_stacked()) {
      sizes = inputs[0].Stacked().sizes().vec();
    } else {
      sizes = inputs[0].Separate()[0].sizes().vec();
      sizes.insert(sizes.begin(), static_cast<int64_t>(inputs[0].lanes()));
    }
    const at::TensorOptions options =
        inputs[0].is_stacked() ? inputs[0].Stacked().options() : inputs[0].Separate()[0].options();
    at::Tensor mask = at::empty(NoiseSizes(sizes, 1), options.dtype(at::kFloat));
    context.random->DropoutMask(context.layer, DroppedValues(layer_.rate), KeptScale(layer_.rate),
                                mask);
    mask = mask.to(options.dtype());
    if (inputs[0].is_stacked()) return LaneValue(at::mul(inputs[0].Stacked(), mask));
    std::vector<at::Tensor> outputs;
    ForEachLane(context.queues, static_cast<int64_t>(inputs[0].lanes()), {mask}, [&](int64_t lane) {
      outputs.push_back(
          at::mul(inputs[0].Separate()[static_cast<size_t>(lane)], mask.select(0, lane)));
    });
    return LaneValue(std::move(outputs));
  }

 private:
  // Of the mask for a tensor of these sizes, which has `before` axes before the batch.
  std::vector<int64_t> NoiseSizes(std::vector<int64_t> sizes, size_t before) const {
    const Shape noise = layer_.Noise();
    for (size_t i = 0; i < noise.size(); ++i) {
      if (noise[i] == 1) sizes[before + i] = 1;
    }
    return sizes;
  }

  const DropoutLayer& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const DropoutLayer& layer) {
  return std::make_unique<DropoutOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
