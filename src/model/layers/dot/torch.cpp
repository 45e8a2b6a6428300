#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>

#include "model/layers/dot/dot.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class DotOperator : public Operator {
 public:
  explicit DotOperator(const Dot& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    std::vector<int64_t> sizes{inputs[0].size(0)};
    // [batch, rest, summed] and [batch, summed, rest]
    const at::Tensor a = Rows(inputs[0], 0, &sizes);
    const at::Tensor b = Rows(inputs[1], 1, &sizes).transpose(1, 2);
    if (sizes.size() == 1) sizes.push_back(1);
    return at::bmm(a, b).reshape(sizes);
  }

 private:
  // The summed axis last, the others as one, whose sizes are appended.
  at::Tensor Rows(const at::Tensor& x, size_t i, std::vector<int64_t>* sizes) const {
    const int64_t axis = layer_.AxisOf(i, static_cast<size_t>(x.dim()));
    const at::Tensor last = x.movedim(axis, -1);
    for (int64_t j = 1; j + 1 < last.dim(); ++j) sizes->push_back(last.size(j));
    const at::Tensor rows = last.reshape({x.size(0), -1, x.size(axis)});
    if (!layer_.normalize) return rows;
    const at::Tensor squares = at::sum(rows * rows, {-1}, /*keepdim=*/true);
    return rows * at::clamp_max(at::rsqrt(squares), 1e7);  // Keras' epsilon
  }

  const Dot& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Dot& layer) {
  return std::make_unique<DotOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
