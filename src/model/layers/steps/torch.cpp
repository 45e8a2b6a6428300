#include <ATen/ops/constant_pad_nd.h>

#include "model/layers/steps/steps.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

// A layer's function of one tensor [batch, ...].
template <typename L, at::Tensor (*compute)(const L&, const at::Tensor&)>
class StepsOperator : public Operator {
 public:
  explicit StepsOperator(const L& layer) : layer_(layer) {}
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    return compute(layer_, inputs[0]);
  }

 private:
  const L& layer_;
};

at::Tensor Pad(const ZeroPadding1D& layer, const at::Tensor& x) {
  return at::constant_pad_nd(x, {0, 0, layer.padding[0], layer.padding[1]});
}

at::Tensor Crop(const Cropping1D& layer, const at::Tensor& x) {
  return x.narrow(1, layer.cropping[0], x.size(1) - layer.cropping[0] - layer.cropping[1]);
}

at::Tensor UpSample(const UpSampling1D& layer, const at::Tensor& x) {
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), layer.size, x.size(2)})
      .reshape({x.size(0), x.size(1) * layer.size, x.size(2)});
}

at::Tensor RepeatSteps(const RepeatVector& layer, const at::Tensor& x) {
  return x.unsqueeze(1).expand({x.size(0), layer.n, x.size(1)});
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const ZeroPadding1D& layer) {
  return std::make_unique<StepsOperator<ZeroPadding1D, Pad>>(layer);
}
std::unique_ptr<Operator> MakeOperator(const Cropping1D& layer) {
  return std::make_unique<StepsOperator<Cropping1D, Crop>>(layer);
}
std::unique_ptr<Operator> MakeOperator(const UpSampling1D& layer) {
  return std::make_unique<StepsOperator<UpSampling1D, UpSample>>(layer);
}
std::unique_ptr<Operator> MakeOperator(const RepeatVector& layer) {
  return std::make_unique<StepsOperator<RepeatVector, RepeatSteps>>(layer);
}

}  // namespace layers
}  // namespace hopper
