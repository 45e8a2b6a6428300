#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/max_pool2d.h>

#include "model/layers/pooling_2d/pooling_2d.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class Pooling2DOperator : public Operator {
 public:
  explicit Pooling2DOperator(const Pooling2D& layer) : layer_(layer) {}

  // Keras' padding cells take no part: they are less than any number for the maximum and are not
  // counted by the average, as libtorch's own padding behaves. That padding is the same at both
  // ends, and padding "same" needs up to one cell more at the end than at the start. With a
  // stride above 1, ceil_mode lets the last window reach over the end; with stride 1 both ends
  // get one cell more and the first output is dropped.
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor x = inputs[0].permute({0, 3, 1, 2});
    int64_t padding[2] = {0, 0};
    int64_t pool[2] = {0, 0};
    bool skip[2] = {false, false};
    for (int axis = 0; axis < 2; ++axis) {
      const WindowAxis window = layer_.Slide(x.size(2 + axis), axis);
      pool[axis] = layer_.pool[axis] - 2 * window.unreached;
      skip[axis] = layer_.strides[axis] == 1 && window.after != window.before;
      padding[axis] = skip[axis] ? window.after : window.before;
    }
    at::Tensor y = layer_.maximum ? at::max_pool2d(x, pool, layer_.strides, padding, /*dilation=*/1,
                                                   layer_.same)
                                  : at::avg_pool2d(x, pool, layer_.strides, padding, layer_.same,
                                                   /*count_include_pad=*/false);
    if (skip[0]) y = y.slice(2, 1);
    if (skip[1]) y = y.slice(3, 1);
    return y.permute({0, 2, 3, 1});
  }

 private:
  const Pooling2D& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Pooling2D& layer) {
  return std::make_unique<Pooling2DOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
