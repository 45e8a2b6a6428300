#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/std.h>
#include <ATen/ops/where.h>

#include "model/layers/ntk_dense/ntk_dense.h"
#include "model/network/activate.h"

namespace hopper {
namespace layers {
namespace {

class NTKDenseOperator : public Operator {
 public:
  explicit NTKDenseOperator(const NTKDense& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const at::Tensor& input = inputs[0];
    const at::Tensor rows = input.reshape({-1, input.size(-1)}).to(weights[0].scalar_type());
    if (context.training && layer_.trainable() && layer_.initializes()) {
      Initialize(rows, weights, context);
    }
    const at::Tensor kernel = at::mul(weights[0], GainOf(rows));
    at::Tensor y = layer_.use_bias ? at::addmm(weights[1], rows, kernel) : at::mm(rows, kernel);
    if (AppliesActivation(layer_.activation, context.linear)) y = Activate(y, layer_.activation);
    std::vector<int64_t> sizes = input.sizes().vec();
    sizes.back() = layer_.units;
    return y.reshape(sizes).to(input.scalar_type());
  }

  bool float_weights() const override { return layer_.initializes(); }

 private:
  static double GainOf(const at::Tensor& rows) {
    return static_cast<double>(NTKDense::Gain(rows.size(1)));
  }

  // A device does not stop for the flag: it computes what weights would be, and keeps those that
  // are there.
  void Initialize(const at::Tensor& rows, const std::vector<at::Tensor>& weights,
                  const ForwardContext& context) const {
    const at::NoGradGuard no_grad;
    at::Tensor flag = weights[layer_.flag()].detach();
    if (flag.is_cpu() && flag.item<float>() != 0.0F) return;
    const at::Tensor done = flag.ne(0.0);
    at::Tensor kernel = weights[0].detach();
    at::Tensor y = at::mm(rows.detach(), kernel) * GainOf(rows);
    if (layer_.std_kernel) {
      at::Tensor deviation = at::std(y, {0}, /*correction=*/std::optional<at::Scalar>(0),
                                     /*keepdim=*/true);
      deviation = at::where(deviation.gt(0.0), deviation, 1.0);
      y = y / deviation;
      kernel.copy_(at::where(done, kernel, kernel / deviation));
    }
    if (layer_.he_bias) {
      RandomMeans means = DrawMeans(context.layer, y.size(0), layer_.units);
      const std::vector<int64_t> sizes = {layer_.units, RandomMeans::kRows};
      const at::Tensor places = at::from_blob(means.rows.data(), sizes, at::kLong).to(y.device());
      const at::Tensor shares =
          at::from_blob(means.shares.data(), sizes, at::kDouble).to(y.options());
      at::Tensor bias = weights[1].detach();
      const at::Tensor chosen = at::gather(y, 0, places.t());  // [rows, units]
      bias.copy_(at::where(done, bias, -(chosen * shares.t()).sum(0)));
    }
    flag.fill_(1.0);
  }

  const NTKDense& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const NTKDense& layer) {
  return std::make_unique<NTKDenseOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
