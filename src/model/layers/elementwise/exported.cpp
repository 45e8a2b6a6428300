#include "model/exported/export_layer.h"
#include "model/layers/elementwise/elementwise.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Elementwise& layer, const ExportCall& call) {
  using Function = Elementwise::Function;
  Value x = call.x();
  switch (layer.function) {
    case Function::kAbsolute:
      return abs(x);
    case Function::kArctan:
      return atan(x);
    case Function::kCeil:
      return neg(floor(neg(x)));
    case Function::kClip:
      if (std::isfinite(layer.least)) x = clamp_min(x, layer.least);
      return std::isfinite(layer.most) ? clamp_max(x, layer.most) : x;
    case Function::kCos:
      return cos(x);
    case Function::kCosh:
      return mul(add(exp(x), exp(neg(x))), 0.5);
    case Function::kExpm1:
      return sub(exp(x), 1.0);
    case Function::kFloor:
      return floor(x);
    case Function::kLog:
      return log(x);
    case Function::kLog10:
      return div(log(x), std::log(10.0));
    case Function::kLog1p:
      return log(add(x, 1.0));
    case Function::kLog2:
      return div(log(x), std::log(2.0));
    case Function::kReciprocal:
      return div(call.graph->Number(layer.number), x);
    case Function::kRound:
      return round(x);
    case Function::kRsqrt:
      return div(call.graph->Number(1.0), sqrt(x));
    case Function::kSign:
      return sign(x);
    case Function::kSin:
      return sin(x);
    case Function::kSinh:
      return mul(sub(exp(x), exp(neg(x))), 0.5);
    case Function::kSqrt:
      return sqrt(x);
    case Function::kTan:
      return div(sin(x), cos(x));
    case Function::kWhole:
      return x.to(ops::Type::kInt64).to(ops::Type::kFloat);
    case Function::kSquare:
      break;
  }
  return square(x);
}

}  // namespace layers
}  // namespace hopper
