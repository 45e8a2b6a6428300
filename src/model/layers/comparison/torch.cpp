#include <ATen/ops/eq.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/ne.h>

#include "model/layers/comparison/comparison.h"
#include "model/network/broadcast.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

// B: a number or a tensor.
template <typename B>
at::Tensor Compare(Comparison::Relation relation, const at::Tensor& a, const B& b) {
  using Relation = Comparison::Relation;
  switch (relation) {
    case Relation::kEqual:
      return at::eq(a, b);
    case Relation::kGreater:
      return at::gt(a, b);
    case Relation::kGreaterEqual:
      return at::ge(a, b);
    case Relation::kLess:
      return at::lt(a, b);
    case Relation::kLessEqual:
      return at::le(a, b);
    default:
      return at::ne(a, b);
  }
}

at::Tensor CompareTwo(Comparison::Relation relation, const at::Tensor& a, const at::Tensor& b) {
  if (relation == Comparison::Relation::kBoth) return at::logical_and(a, b);
  if (relation == Comparison::Relation::kEither) return at::logical_or(a, b);
  return Compare(relation, a, b);
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Comparison& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::ScalarType type = inputs[0].scalar_type();
    if (inputs.size() == 1) {
      return Compare(layer.relation, inputs[0].detach(), layer.number).to(type);
    }
    const std::vector<at::Tensor> two = WithOneRank(inputs);
    return CompareTwo(layer.relation, two[0].detach(), two[1].detach()).to(type);
  });
}

}  // namespace layers
}  // namespace hopper
