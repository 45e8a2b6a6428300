#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include <algorithm>

#include "base/philox.h"
#include "model/layers/dropout/dropout.h"
#include "model/network/lanes.h"

namespace hopper {
namespace layers {
namespace {

class Tensors : public Operator {
 public:
  explicit Tensors(const Dropout& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];
    if (!context.training || layer_.rate == 0.0) return x;
    return at::mul(x, Mask(x, context));
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
    at::Tensor mask = at::empty(sizes, options.dtype(at::kFloat));
    context.random->DropoutMask(context.layer, DroppedValues(layer_.rate), KeptScale(layer_.rate),
                                mask);
    mask = mask.to(options.dtype());
    if (inputs[0].is_stacked()) return LaneValue(at::mul(inputs[0].Stacked(), mask));
    std::vector<at::Tensor> outputs;
    for (size_t lane = 0; lane < inputs[0].lanes(); ++lane) {
      outputs.push_back(
          at::mul(inputs[0].Separate()[lane], mask.select(0, static_cast<int64_t>(lane))));
    }
    return LaneValue(std::move(outputs));
  }

 private:
  // 0 or 1 / (1 - rate), element by element in C order of the logical tensor.
  at::Tensor Mask(const at::Tensor& x, const ForwardContext& context) const {
    at::Tensor mask = at::empty(x.sizes(), at::TensorOptions().dtype(at::kFloat));
    const int64_t size = mask.numel();
    float* values = mask.mutable_data_ptr<float>();
    const Philox philox(context.seed, Purpose::kDropout, context.layer,
                        static_cast<uint64_t>(context.step));
    const uint32_t dropped = DroppedValues(layer_.rate);
    const float scale = KeptScale(layer_.rate);
    uint32_t bits[kDropoutChunk];
    for (int64_t first = 0; first < size; first += kDropoutChunk) {
      const int64_t n = std::min(kDropoutChunk, size - first);
      philox.Fill(static_cast<uint64_t>(first), static_cast<uint64_t>(n), bits);
      for (int64_t i = 0; i < n; ++i) values[first + i] = (bits[i] >> 8) >= dropped ? scale : 0.0F;
    }
    return x.device() == mask.device() ? mask : mask.to(x.device());
  }

  const Dropout& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Dropout& layer) {
  return std::make_unique<Tensors>(layer);
}

}  // namespace layers
}  // namespace hopper
