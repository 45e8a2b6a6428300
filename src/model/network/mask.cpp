#include "model/network/mask.h"

#include <ATen/ops/any.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/ones.h>

namespace hopper {

namespace {

at::Tensor OfTwo(MaskStep::Kind kind, const at::Tensor& a, const at::Tensor& b) {
  if (kind == MaskStep::Kind::kFollow) return at::cat({a, b}, 1);
  return kind == MaskStep::Kind::kAnd ? at::logical_and(a, b) : at::logical_or(a, b);
}

}  // namespace

at::Tensor MaskOf(const ForwardContext& context, const std::vector<at::Tensor>& inputs,
                  size_t input) {
  if (context.form == nullptr || !context.form->HasMask(input)) return {};
  std::vector<at::Tensor> stack;
  for (const MaskStep& step : context.form->masks[input]) {
    if (step.OfTwo()) {
      const at::Tensor b = stack.back();
      stack.pop_back();
      stack.back() = OfTwo(step.kind, stack.back(), b);
      continue;
    }
    const at::Tensor& x = inputs[static_cast<size_t>(step.input)];
    if (step.kind == MaskStep::Kind::kEvery) {
      stack.push_back(at::ones({x.size(0), x.size(1)}, x.options().dtype(at::kBool)));
      continue;
    }
    stack.push_back(at::ne(x.detach(), step.value));
    if (step.kind == MaskStep::Kind::kAnyNotEqual) stack.back() = at::any(stack.back(), -1);
  }
  return stack.back();
}

}  // namespace hopper
