#include "autograd/expression.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/round.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>

#include <map>
#include <vector>

namespace hopper {
namespace {

using Unary = at::Tensor (*)(const at::Tensor&);
using Binary = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

at::Tensor Number(const at::Tensor& condition) { return condition.to(at::kFloat); }

// Reductions of a number that is no tensor of examples leave it as it is.
at::Tensor OverLast(const at::Tensor& x, at::Tensor (*reduce)(const at::Tensor&)) {
  return x.dim() == 0 ? x : reduce(x);
}

// Of two values the one that `first` chooses; NaN is passed on.
at::Tensor Choose(const at::Tensor& first, const at::Tensor& a, const at::Tensor& b) {
  return at::where(at::logical_or(first, at::ne(a, a)), a, b);
}

at::Tensor Maximum(const at::Tensor& a, const at::Tensor& b) { return Choose(at::ge(a, b), a, b); }
at::Tensor Minimum(const at::Tensor& a, const at::Tensor& b) { return Choose(at::le(a, b), a, b); }

const std::map<std::string, Unary>& UnaryFunctions() {
  static const std::map<std::string, Unary> functions = {
      {"negative", [](const at::Tensor& x) { return at::neg(x); }},
      {"abs", [](const at::Tensor& x) { return at::abs(x); }},
      {"square", [](const at::Tensor& x) { return at::square(x); }},
      {"sqrt", [](const at::Tensor& x) { return at::sqrt(x); }},
      {"exp", [](const at::Tensor& x) { return at::exp(x); }},
      {"expm1", [](const at::Tensor& x) { return at::expm1(x); }},
      {"log", [](const at::Tensor& x) { return at::log(x); }},
      {"log1p", [](const at::Tensor& x) { return at::log1p(x); }},
      {"sigmoid", [](const at::Tensor& x) { return at::sigmoid(x); }},
      {"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
      {"relu", [](const at::Tensor& x) { return at::relu(x); }},
      {"softplus", [](const at::Tensor& x) { return at::softplus(x); }},
      {"sign", [](const at::Tensor& x) { return at::sign(x); }},
      {"round", [](const at::Tensor& x) { return at::round(x); }},
      {"floor", [](const at::Tensor& x) { return at::floor(x); }},
      {"ceil", [](const at::Tensor& x) { return at::ceil(x); }},
      {"sin", [](const at::Tensor& x) { return at::sin(x); }},
      {"cos", [](const at::Tensor& x) { return at::cos(x); }},
      {"mean",
       [](const at::Tensor& x) {
         return OverLast(x, [](const at::Tensor& t) { return at::mean(t, {-1}, true); });
       }},
      {"sum",
       [](const at::Tensor& x) {
         return OverLast(x, [](const at::Tensor& t) { return at::sum(t, {-1}, true); });
       }},
      {"max",
       [](const at::Tensor& x) {
         return OverLast(x, [](const at::Tensor& t) { return at::amax(t, {-1}, true); });
       }},
      {"min",
       [](const at::Tensor& x) {
         return OverLast(x, [](const at::Tensor& t) { return at::amin(t, {-1}, true); });
       }},
      {"softmax",
       [](const at::Tensor& x) {
         return OverLast(x, [](const at::Tensor& t) { return at::softmax(t, -1); });
       }},
      {"logsumexp",
       [](const at::Tensor& x) {
         return OverLast(x, [](const at::Tensor& t) { return at::logsumexp(t, {-1}, true); });
       }},
  };
  return functions;
}

const std::map<std::string, Binary>& BinaryFunctions() {
  static const std::map<std::string, Binary> functions = {
      {"add", [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }},
      {"subtract", [](const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }},
      {"multiply", [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }},
      {"divide", [](const at::Tensor& a, const at::Tensor& b) { return at::div(a, b); }},
      {"power", [](const at::Tensor& a, const at::Tensor& b) { return at::pow(a, b); }},
      {"maximum", Maximum},
      {"minimum", Minimum},
      {"less", [](const at::Tensor& a, const at::Tensor& b) { return Number(at::lt(a, b)); }},
      {"less_equal", [](const at::Tensor& a, const at::Tensor& b) { return Number(at::le(a, b)); }},
      {"greater", [](const at::Tensor& a, const at::Tensor& b) { return Number(at::gt(a, b)); }},
      {"greater_equal",
       [](const at::Tensor& a, const at::Tensor& b) { return Number(at::ge(a, b)); }},
      {"equal", [](const at::Tensor& a, const at::Tensor& b) { return Number(at::eq(a, b)); }},
      {"not_equal", [](const at::Tensor& a, const at::Tensor& b) { return Number(at::ne(a, b)); }},
  };
  return functions;
}

at::Tensor Evaluate(const ExpressionNode& node, const at::Tensor& labels,
                    const at::Tensor& output) {
  switch (node.kind) {
    case ExpressionKind::kNumber:
      return at::scalar_tensor(node.number, at::TensorOptions().dtype(at::kFloat));
    case ExpressionKind::kLabel:
      return labels;
    case ExpressionKind::kOutput:
      return output;
    case ExpressionKind::kCall:
      break;
  }
  std::vector<at::Tensor> values;
  for (const ExpressionNode& argument : node.arguments) {
    values.push_back(Evaluate(argument, labels, output));
  }
  if (values.size() == 1) {
    const auto at = UnaryFunctions().find(node.function);
    if (at != UnaryFunctions().end()) return at->second(values[0]);
  } else if (values.size() == 2) {
    const auto at = BinaryFunctions().find(node.function);
    if (at != BinaryFunctions().end()) return at->second(values[0], values[1]);
  } else if (node.function == "where") {
    return at::where(at::ne(values[0], 0.0), values[1], values[2]);
  } else if (node.function == "clip") {
    return Minimum(Maximum(values[0], values[1]), values[2]);
  }
  throw Error(ErrorCode::kInternal, "function \"" + node.function + "\" has no implementation");
}

}  // namespace

at::Tensor ExpressionValues(const Expression& expression, const at::Tensor& labels,
                            const at::Tensor& output) {
  return Evaluate(expression.root(), labels, output);
}

}  // namespace hopper
