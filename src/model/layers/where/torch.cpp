#include <ATen/ops/ne.h>
#include <ATen/ops/where.h>

#include "model/layers/where/where.h"
#include "model/network/broadcast.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Where& /*layer*/) {
  return MakeFunctionOperator([](const std::vector<at::Tensor>& inputs,
                                 const std::vector<at::Tensor>&, const ForwardContext&) {
    const std::vector<at::Tensor> all = WithOneRank(inputs);
    return at::where(at::ne(all[0].detach(), 0.0), all[1], all[2]);
  });
}

}  // namespace layers
}  // namespace hopper
