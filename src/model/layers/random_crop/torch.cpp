#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/gather.h>

#include "model/layers/random_crop/random_crop.h"
#include "model/network/operator.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

// `size` elements along an axis of each example, from a random one of those that leave room on;
// `uniform` holds a number in [0, 1) of each example.
at::Tensor Part(const at::Tensor& x, int64_t axis, int64_t size, const at::Tensor& uniform) {
  const int64_t room = x.size(axis) - size;
  if (room == 0) return x;
  const at::Tensor first =
      at::clamp(at::floor(uniform * static_cast<double>(room + 1)), 0.0, static_cast<double>(room))
          .to(at::kLong);
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[static_cast<size_t>(axis)] = size;
  const at::Tensor places = at::arange(size, first.options()).view(shape);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[static_cast<size_t>(axis)] = size;
  return at::gather(x, axis, (first + places).expand(sizes));
}

class RandomCropOperator : public Operator {
 public:
  explicit RandomCropOperator(const RandomCrop& layer)
      : layer_(layer), middle_(MakeOperator(static_cast<const Resized&>(layer))) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];  // [batch, height, width, channels]
    if (!context.training || x.size(1) < layer_.height || x.size(2) < layer_.width) {
      return middle_->Forward(inputs, weights, context);
    }
    const at::Tensor uniform = RandomUniform(context, {x.size(0), 2, 1, 1, 1}, x).to(at::kFloat);
    return Part(Part(x, 1, layer_.height, uniform.select(1, 0)), 2, layer_.width,
                uniform.select(1, 1));
  }

 private:
  const RandomCrop& layer_;
  const std::unique_ptr<Operator> middle_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const RandomCrop& layer) {
  return std::make_unique<RandomCropOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
