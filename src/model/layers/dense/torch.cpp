#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include "model/layers/dense/dense.h"
#include "model/network/activate.h"
#include "model/network/lanes.h"

namespace hopper {
namespace layers {
namespace {

class DenseOperator : public Operator {
 public:
  explicit DenseOperator(const Dense& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const at::Tensor& input = inputs[0];
    const bool matrix = input.dim() == 2;
    const at::Tensor rows = matrix ? input : input.reshape({-1, input.size(-1)});
    at::Tensor y =
        layer_.use_bias ? at::addmm(weights[1], rows, weights[0]) : at::mm(rows, weights[0]);
    const bool activate = AppliesActivation(layer_.activation, context.linear);
    const bool by_element = ActsByElement(layer_.activation);
    if (activate && (by_element || matrix)) y = ActivateOwned(std::move(y), layer_.activation);
    if (!matrix) {
      std::vector<int64_t> sizes = input.sizes().vec();
      sizes.back() = layer_.units;
      y = y.view(sizes);
      if (activate && !by_element) y = Activate(y, layer_.activation);
    }
    return y;
  }

  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                         const std::vector<at::Tensor>& weights,
                         const LaneContext& context) const override {
    const at::Tensor& input = inputs[0].Stacked();
    const at::Tensor rows =
        input.dim() == 3 ? input : input.reshape({input.size(0), -1, input.size(-1)});
    at::Tensor y = layer_.use_bias ? at::baddbmm(weights[1].unsqueeze(1), rows, weights[0])
                                   : at::bmm(rows, weights[0]);
    const bool applies = AppliesActivation(layer_.activation, context.linear);
    const bool by_element = ActsByElement(layer_.activation);
    if (applies && by_element) y = ActivateOwned(std::move(y), layer_.activation);
    std::vector<int64_t> sizes = input.sizes().vec();
    sizes.back() = layer_.units;
    if (input.dim() != 3) y = y.view(sizes);
    if (applies && !by_element) {
      // An axis is counted as in one lane.
      sizes[1] *= sizes[0];
      const std::vector<int64_t> folded(sizes.begin() + 1, sizes.end());
      const std::vector<int64_t> lanes = y.sizes().vec();
      y = Activate(y.view(folded), layer_.activation).view(lanes);
    }
    return LaneValue(y);
  }

 private:
  const Dense& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Dense& layer) {
  return std::make_unique<DenseOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
