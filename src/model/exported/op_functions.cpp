// Functions of ops::Value: what each of them is in operations of ONNX.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/exported/op_graph.h"

namespace hopper {
namespace ops {
namespace {

constexpr double kHalfRoot = 0.70710678118654752;  // sqrt(1 / 2)

int64_t Positive(int64_t axis, const Value& x) { return axis < 0 ? axis + x.dim() : axis; }

Shape Positive(const Shape& axes, const Value& x) {
  Shape positive;
  for (const int64_t axis : axes) positive.push_back(Positive(axis, x));
  std::sort(positive.begin(), positive.end());
  return positive;
}

Value Number(const Value& beside, double number) { return beside.graph()->Number(number); }

Value Unary(const char* op, const Value& x, std::vector<Attribute> attributes = {}) {
  return x.graph()->Elementwise(op, {x}, std::move(attributes));
}

Value Binary(const char* op, const Value& a, const Value& b, Type type = Type::kFloat) {
  return a.graph()->Elementwise(op, {a, b}, {}, type);
}

Value Reduce(const char* op, const Value& x, const Shape& chosen, bool keepdim) {
  const Shape axes = Positive(chosen, x);
  if (const Operation* transpose = x.graph()->TransposeOf(x)) {
    const Shape& order = transpose->Ints("perm");
    Shape own;
    Shape rest;
    for (size_t i = 0; i < order.size(); ++i) {
      const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
      (reduced ? own : rest).push_back(order[i]);
    }
    if (keepdim) return permute(Reduce(op, x.graph()->Source(transpose), own, true), order);
    if (std::is_sorted(rest.begin(), rest.end())) {
      return Reduce(op, x.graph()->Source(transpose), own, false);
    }
  }
  Shape shape;
  for (int64_t i = 0; i < x.dim(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) shape.push_back(x.size(i));
    if (reduced && keepdim) shape.push_back(1);
  }
  return x.graph()->Emit(op, {x}, {{"axes", axes}, {"keepdims", int64_t{keepdim ? 1 : 0}}}, shape);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
Value add(const Value& a, const Value& b) { return Binary("Add", a, b); }
Value sub(const Value& a, const Value& b) { return Binary("Sub", a, b); }
Value mul(const Value& a, const Value& b) { return Binary("Mul", a, b); }
Value div(const Value& a, const Value& b) { return Binary("Div", a, b); }
Value add(const Value& x, double number) { return add(x, Number(x, number)); }
Value sub(const Value& x, double number) { return sub(x, Number(x, number)); }
Value mul(const Value& x, double number) { return mul(x, Number(x, number)); }
Value div(const Value& x, double number) { return div(x, Number(x, number)); }
Value rsub(const Value& x, double number) { return Binary("Sub", Number(x, number), x); }
Value sub(const Value& a, const Value& b, double multiple) { return sub(a, mul(b, multiple)); }
Value maximum(const Value& a, const Value& b) { return Binary("Max", a, b); }
Value minimum(const Value& a, const Value& b) { return Binary("Min", a, b); }
Value clamp_min(const Value& x, double least) { return maximum(x, Number(x, least)); }
Value clamp_max(const Value& x, double most) { return minimum(x, Number(x, most)); }
Value hardtanh(const Value& x, double least, double most) {
  return Unary("Clip", x, {{"min", least}, {"max", most}});
}
Value gt(const Value& x, double number) { return gt(x, Number(x, number)); }
Value ne(const Value& x, double number) { return logical_not(eq(x, Number(x, number))); }
Value eq(const Value& a, const Value& b) { return Binary("Equal", a, b, Type::kBool); }
Value gt(const Value& a, const Value& b) { return Binary("Greater", a, b, Type::kBool); }
Value ge(const Value& a, const Value& b) { return Binary("GreaterOrEqual", a, b, Type::kBool); }
Value logical_and(const Value& a, const Value& b) { return Binary("And", a, b, Type::kBool); }
Value logical_or(const Value& a, const Value& b) { return Binary("Or", a, b, Type::kBool); }
Value logical_not(const Value& x) { return x.graph()->Elementwise("Not", {x}, {}, Type::kBool); }
Value where(const Value& condition, const Value& x, const Value& y) {
  return x.graph()->Elementwise("Where", {condition, x, y});
}
Value where(const Value& condition, const Value& x, double y) {
  return where(condition, x, Number(x, y));
}
Value abs(const Value& x) { return Unary("Abs", x); }
Value floor(const Value& x) { return Unary("Floor", x); }
Value round(const Value& x) { return Unary("Round", x); }
Value sign(const Value& x) { return Unary("Sign", x); }
Value fmod(const Value& a, const Value& b) {
  return a.graph()->Elementwise("Mod", {a, b}, {{"fmod", int64_t{1}}});
}
Value exp(const Value& x) { return Unary("Exp", x); }
Value neg(const Value& x) { return Unary("Neg", x); }
Value sqrt(const Value& x) { return Unary("Sqrt", x); }
Value square(const Value& x) { return mul(x, x); }
Value log(const Value& x) { return Unary("Log", x); }
Value sin(const Value& x) { return Unary("Sin", x); }
Value cos(const Value& x) { return Unary("Cos", x); }
Value atan(const Value& x) { return Unary("Atan", x); }
Value pow(const Value& x, const Value& exponent) { return Binary("Pow", x, exponent); }
Value tanh(const Value& x) { return Unary("Tanh", x); }
Value sigmoid(const Value& x) { return Unary("Sigmoid", x); }
Value hardsigmoid(const Value& x) {
  return Unary("HardSigmoid", x, {{"alpha", 1.0 / 6.0}, {"beta", 0.5}});
}
Value log_sigmoid(const Value& x) { return neg(softplus(neg(x))); }
Value softplus(const Value& x) { return Unary("Softplus", x); }
Value relu(const Value& x) { return Unary("Relu", x); }
Value leaky_relu(const Value& x, double slope) { return Unary("LeakyRelu", x, {{"alpha", slope}}); }
Value elu(const Value& x, double alpha) { return Unary("Elu", x, {{"alpha", alpha}}); }
Value celu(const Value& x, double alpha) { return Unary("Celu", x, {{"alpha", alpha}}); }
Value selu(const Value& x) { return Unary("Selu", x); }
Value silu(const Value& x) { return mul(x, sigmoid(x)); }
Value gelu(const Value& x) { return mul(mul(x, 0.5), add(Unary("Erf", mul(x, kHalfRoot)), 1.0)); }
Value gelu(const Value& x, const char* /*approximate*/) {
  const Value inner = mul(add(x, mul(mul(square(x), x), 0.044715)), 0.79788456080286536);
  return mul(mul(x, 0.5), add(tanh(inner), 1.0));
}
Value mish(const Value& x) { return mul(x, tanh(softplus(x))); }
Value hardshrink(const Value& x, double threshold) {
  return Unary("Shrink", x, {{"lambd", threshold}, {"bias", 0.0}});
}
Value softshrink(const Value& x, double threshold) {
  return Unary("Shrink", x, {{"lambd", threshold}, {"bias", threshold}});
}

Value softmax(const Value& x, int64_t axis) {
  return x.graph()->Emit("Softmax", {x}, {{"axis", axis}}, x.sizes());
}
Value log_softmax(const Value& x, int64_t axis) {
  return x.graph()->Emit("LogSoftmax", {x}, {{"axis", axis}}, x.sizes());
}
Value glu(const Value& x, int64_t axis) {
  const int64_t half = x.size(axis) / 2;
  return mul(narrow(x, axis, 0, half), sigmoid(narrow(x, axis, half, half)));
}
std::tuple<Value, Value> sort(const Value& x, int64_t axis, bool descending) {
  const int64_t k = x.size(axis);
  const Value sorted = x.graph()->Emit(
      "TopK", {x}, {{"k", Shape{k}}, {"axis", axis}, {"largest", int64_t{descending ? 1 : 0}}},
      x.sizes());
  return {sorted, Value()};
}
Value cumsum(const Value& x, int64_t axis) {
  return x.graph()->Emit("CumSum", {x}, {{"axis", axis}}, x.sizes());
}
Value ones_like(const Value& x) {
  const int64_t n = x.size(-1);
  return x.graph()->Constant(std::vector<float>(static_cast<size_t>(n), 1.0F), {n});
}
Value sum(const Value& x, const Shape& axes, bool keepdim) {
  return Reduce("ReduceSum", x.to(Type::kFloat), axes, keepdim);
}
Value mean(const Value& x, const Shape& axes, bool keepdim) {
  return Reduce("ReduceMean", x, axes, keepdim);
}
Value amax(const Value& x, const Shape& axes, bool keepdim) {
  return Reduce("ReduceMax", x, axes, keepdim);
}
Value amin(const Value& x, const Shape& axes, bool keepdim) {
  return Reduce("ReduceMin", x, axes, keepdim);
}
// One axis after the other, as PyTorch takes no more.
Value prod(Value x, const Shape& axes, bool keepdim) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    x = Reduce("ReduceProd", x, {*axis}, keepdim);
  }
  return x;
}
Value any(const Value& x, int64_t axis, bool keepdim) {
  return amax(x.to(Type::kFloat), {axis}, keepdim).to(Type::kBool);
}

Value matmul(const Value& a, const Value& b) {
  Shape shape = a.sizes();
  const Shape& right = b.sizes();
  // Leading axes of one are the other's, or 1.
  if (right.size() > shape.size()) {
    shape.insert(shape.begin(), right.begin(),
                 right.end() - static_cast<std::ptrdiff_t>(shape.size()));
  }
  shape.back() = right.back();
  // An axis of size 1 is repeated.
  if (right.size() == shape.size()) {
    for (size_t i = 0; i + 2 < shape.size(); ++i) {
      if (shape[i] == 1) shape[i] = right[i];
    }
  }
  return a.graph()->Emit("MatMul", {a, b}, {}, shape);
}

Value einsum(const std::string& equation, const std::vector<Value>& values, const Shape& shape) {
  return values[0].graph()->Emit("Einsum", values, {{"equation", equation}}, shape);
}

Value reshape(const Value& x, const Shape& sizes) {
  if (sizes == x.sizes()) return x;
  Value from = x;
  if (const Operation* before = x.graph()->MakerOf(x, "Reshape")) from = x.graph()->Source(before);
  if (sizes == from.sizes()) return from;
  return x.graph()->Emit("Reshape", {from}, {{"shape", sizes}}, sizes, x.scalar_type());
}

Value permute(const Value& x, const Shape& axes) { return x.graph()->Transposed(x, axes); }

Value cat(const std::vector<Value>& values, int64_t chosen) {
  Graph* graph = values[0].graph();
  const int64_t axis = Positive(chosen, values[0]);
  const Operation* first = graph->TransposeOf(values[0]);
  bool all = first != nullptr;
  for (size_t i = 1; i < values.size() && all; ++i) {
    const Operation* own = graph->TransposeOf(values[i]);
    all = own != nullptr && own->Ints("perm") == first->Ints("perm");
  }
  if (all) {
    const Shape order = first->Ints("perm");
    std::vector<Value> sources;
    for (const Value& value : values) sources.push_back(graph->Source(graph->TransposeOf(value)));
    return permute(cat(sources, order[static_cast<size_t>(axis)]), order);
  }
  Shape shape = values[0].sizes();
  for (size_t i = 1; i < values.size(); ++i) {
    shape[static_cast<size_t>(axis)] += values[i].size(axis);
  }
  return graph->Emit("Concat", values, {{"axis", axis}}, shape, values[0].scalar_type());
}

Value narrow(const Value& x, int64_t chosen, int64_t from, int64_t size) {
  const int64_t axis = Positive(chosen, x);
  if (from == 0 && size == x.size(axis)) return x;
  if (const Operation* transpose = x.graph()->TransposeOf(x)) {
    const Shape order = transpose->Ints("perm");
    return permute(
        narrow(x.graph()->Source(transpose), order[static_cast<size_t>(axis)], from, size), order);
  }
  Shape shape = x.sizes();
  shape[static_cast<size_t>(axis)] = size;
  return x.graph()->Emit(
      "Slice", {x}, {{"starts", Shape{from}}, {"ends", Shape{from + size}}, {"axes", Shape{axis}}},
      shape, x.scalar_type());
}

Value slice(const Value& x, int64_t axis, int64_t from, int64_t to, int64_t step) {
  if (step == 1) return narrow(x, axis, from, to - from);
  Shape shape = x.sizes();
  shape[static_cast<size_t>(axis)] = (to - from - 1) / step + 1;
  return x.graph()->Emit(
      "Slice", {x},
      {{"starts", Shape{from}}, {"ends", Shape{to}}, {"axes", Shape{axis}}, {"steps", Shape{step}}},
      shape, x.scalar_type());
}

Value flip(const Value& x, int64_t axis) {
  return x.graph()->Emit("Slice", {x},
                         {{"starts", Shape{-1}},
                          {"ends", Shape{INT64_MIN}},
                          {"axes", Shape{Positive(axis, x)}},
                          {"steps", Shape{-1}}},
                         x.sizes(), x.scalar_type());
}

Value expand(const Value& x, const Shape& times) {
  Shape shape = x.sizes();
  bool same = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (times[i] == 1) continue;
    shape[i] = times[i];
    same = false;
  }
  if (same) return x;
  return x.graph()->Emit("Expand", {x}, {{"shape", times}}, shape, x.scalar_type());
}

Value pad(const Value& x, const Shape& before, const Shape& after) {
  const auto none = [](int64_t n) { return n == 0; };
  if (std::all_of(before.begin(), before.end(), none) &&
      std::all_of(after.begin(), after.end(), none)) {
    return x;
  }
  if (const Operation* transpose = x.graph()->TransposeOf(x)) {
    const Shape order = transpose->Ints("perm");
    Shape own_before(order.size());
    Shape own_after(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      own_before[static_cast<size_t>(order[i])] = before[i];
      own_after[static_cast<size_t>(order[i])] = after[i];
    }
    return permute(pad(x.graph()->Source(transpose), own_before, own_after), order);
  }
  Shape shape = x.sizes();
  Shape pads = before;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) shape[i] += before[i] + after[i];
    pads.push_back(after[i]);
  }
  return x.graph()->Emit("Pad", {x}, {{"pads", pads}}, shape);
}

Value embedding(const Value& table, const Value& ids) {
  Shape shape = ids.sizes();
  shape.push_back(table.size(1));
  return ids.graph()->Emit("Gather", {table, ids.to(Type::kInt64)}, {{"axis", int64_t{0}}}, shape);
}
// NOLINTEND(readability-identifier-naming)

}  // namespace ops
}  // namespace hopper
