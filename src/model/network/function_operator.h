// An operator that is one function.
#pragma once

#include <utility>
#include <vector>

#include "model/network/operator.h"

namespace hopper {

template <typename F>
class FunctionOperator : public Operator {
 public:
  explicit FunctionOperator(F forward) : forward_(std::move(forward)) {}
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    return forward_(inputs, weights, context);
  }

 private:
  const F forward_;
};

// forward(inputs, weights, context), as Operator::Forward(); what it captures must outlive it.
template <typename F>
std::unique_ptr<Operator> MakeFunctionOperator(F forward) {
  return std::make_unique<FunctionOperator<F>>(std::move(forward));
}

}  // namespace hopper
