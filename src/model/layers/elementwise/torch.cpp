#include <ATen/ops/abs.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cosh.h>
#include <ATen/ops/div.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log10.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/log2.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/round.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sinh.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/where.h>

#include "model/layers/elementwise/elementwise.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

at::Tensor Clipped(const Elementwise& layer, const at::Tensor& x) {
  const at::Tensor y = at::clamp(x, layer.least, layer.most);
  if (layer.ends_have_gradient) return y;
  return at::where(at::logical_and(at::gt(x, layer.least), at::lt(x, layer.most)), y, y.detach());
}

at::Tensor Apply(const Elementwise& layer, const at::Tensor& x) {
  using Function = Elementwise::Function;
  switch (layer.function) {
    case Function::kAbsolute:
      return at::abs(x);
    case Function::kArctan:
      return at::atan(x);
    case Function::kCeil:
      return at::ceil(x.detach());
    case Function::kClip:
      return Clipped(layer, x);
    case Function::kCos:
      return at::cos(x);
    case Function::kCosh:
      return at::cosh(x);
    case Function::kExpm1:
      return at::expm1(x);
    case Function::kFloor:
      return at::floor(x.detach());
    case Function::kLog:
      return at::log(x);
    case Function::kLog10:
      return at::log10(x);
    case Function::kLog1p:
      return at::log1p(x);
    case Function::kLog2:
      return at::log2(x);
    case Function::kReciprocal:
      return at::div(at::full_like(x, layer.number), x);
    case Function::kRound:
      return at::round(x.detach());
    case Function::kRsqrt:
      return at::rsqrt(x);
    case Function::kSign:
      return at::sign(x.detach());
    case Function::kSin:
      return at::sin(x);
    case Function::kSinh:
      return at::sinh(x);
    case Function::kSqrt:
      return at::sqrt(x);
    case Function::kTan:
      return at::tan(x);
    case Function::kWhole:
      return at::trunc(x.detach());
    case Function::kSquare:
      break;
  }
  return at::square(x);
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Elementwise& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext&) { return Apply(layer, inputs[0]); });
}

}  // namespace layers
}  // namespace hopper
