#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include "model/layers/merge/merge.h"
#include "model/layers/merge/merge_masked.h"
#include "model/network/broadcast.h"
#include "model/network/function_operator.h"
#include "model/network/mask.h"

namespace hopper {
namespace layers {
namespace {

using Kind = Merge::Kind;

at::Tensor Merged(const Merge& layer, const at::Tensor& a, const at::Tensor& b) {
  switch (layer.kind) {
    case Kind::kSubtract:
      return at::sub(a, b);
    case Kind::kMultiply:
      return at::mul(a, b);
    case Kind::kDivide:
      return at::div(a, b);
    // Of equal values the first gets the gradient, as in TensorFlow; libtorch's own share it.
    case Kind::kMaximum:
      return at::where(at::ge(a, b), a, b);
    case Kind::kMinimum:
      return at::where(at::le(a, b), a, b);
    case Kind::kAdd:
    case Kind::kAverage:
      break;
  }
  return at::add(a, b, layer.scale);
}

// As MergeMasked() wants them; empty where there are none. A tensor that gets axes loses its mask.
std::vector<at::Tensor> MasksOf(const std::vector<at::Tensor>& inputs,
                                const std::vector<at::Tensor>& all, const ForwardContext& context) {
  if (context.form == nullptr || context.form->masks.empty()) return {};
  std::vector<at::Tensor> masks;
  for (size_t i = 0; i < all.size(); ++i) {
    at::Tensor mask = MaskOf(context, inputs, i);
    if (inputs[i].dim() < all[i].dim()) mask.reset();
    while (mask.defined() && mask.dim() < all[i].dim()) mask = mask.unsqueeze(-1);
    masks.push_back(mask);
  }
  return masks;
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Merge& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext& context) {
    const auto data = static_cast<std::ptrdiff_t>(context.DataInputs(inputs.size()));
    const std::vector<at::Tensor> all = WithOneRank({inputs.begin(), inputs.begin() + data});
    const std::vector<at::Tensor> masks = MasksOf(inputs, all, context);
    if (!masks.empty()) {
      return MergeMasked(layer.kind, all, masks, [&](const at::Tensor& a, const at::Tensor& b) {
        return Merged(layer, a, b);
      });
    }
    at::Tensor merged = all[0];
    for (size_t i = 1; i < all.size(); ++i) merged = Merged(layer, merged, all[i]);
    if (layer.kind != Kind::kAverage) return merged;
    return at::div(merged, static_cast<double>(all.size()));
  });
}

}  // namespace layers
}  // namespace hopper
