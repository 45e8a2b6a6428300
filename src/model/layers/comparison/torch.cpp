#include <ATen/ops/eq.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/ne.h>

#include "model/layers/comparison/comparison.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

at::Tensor Compare(const Comparison& layer, const at::Tensor& x) {
  using Relation = Comparison::Relation;
  switch (layer.relation) {
    case Relation::kEqual:
      return at::eq(x, layer.number);
    case Relation::kGreater:
      return at::gt(x, layer.number);
    case Relation::kGreaterEqual:
      return at::ge(x, layer.number);
    case Relation::kLess:
      return at::lt(x, layer.number);
    case Relation::kLessEqual:
      return at::le(x, layer.number);
    case Relation::kNotEqual:
      break;
  }
  return at::ne(x, layer.number);
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Comparison& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    return Compare(layer, inputs[0].detach()).to(inputs[0].scalar_type());
  });
}

}  // namespace layers
}  // namespace hopper
