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
    case Function::kClip:
      if (std::isfinite(layer.least)) x = clamp_min(x, layer.least);
      return std::isfinite(layer.most) ? clamp_max(x, layer.most) : x;
    case Function::kCos:
      return cos(x);
    case Function::kLog:
      return log(x);
    case Function::kLog1p:
      return log(add(x, 1.0));
    case Function::kPower:
      return pow(x, call.graph->Number(layer.number));
    case Function::kPowerOf:
      return pow(call.graph->Number(layer.number), x);
    case Function::kReciprocal:
      return div(call.graph->Number(layer.number), x);
    case Function::kRsqrt:
      return div(call.graph->Number(1.0), sqrt(x));
    case Function::kSin:
      return sin(x);
    case Function::kSqrt:
      return sqrt(x);
    case Function::kWhole:
      return x.to(ops::Type::kInt64).to(ops::Type::kFloat);
    case Function::kSquare:
      break;
  }
  return square(x);
}

}  // namespace layers
}  // namespace hopper
