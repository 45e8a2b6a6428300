#include "model/network/mask.h"

#include <ATen/ops/any.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/ne.h>

namespace hopper {

at::Tensor MaskOf(const ForwardContext& context, const std::vector<at::Tensor>& inputs,
                  size_t input) {
  if (context.form == nullptr || !context.form->HasMask(input)) return {};
  std::vector<at::Tensor> stack;
  for (const MaskStep& step : context.form->masks[input]) {
    if (step.kind == MaskStep::Kind::kAnd || step.kind == MaskStep::Kind::kOr) {
      const at::Tensor b = stack.back();
      stack.pop_back();
      stack.back() = step.kind == MaskStep::Kind::kAnd ? at::logical_and(stack.back(), b)
                                                       : at::logical_or(stack.back(), b);
      continue;
    }
    stack.push_back(at::ne(inputs[static_cast<size_t>(step.input)].detach(), step.value));
    if (step.kind == MaskStep::Kind::kAnyNotEqual) stack.back() = at::any(stack.back(), -1);
  }
  return stack.back();
}

}  // namespace hopper
