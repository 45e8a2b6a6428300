// A network as a list of operations on tensors, of which files for other tools are made. Operations
// are ONNX's, by name and meaning (opset 17), but that numbers which ONNX wants as inputs, such as
// the shape of Reshape, are attributes here.
//
// Functions of ops::Value have libtorch's names: activations' Tensors() are templates that call
// them for both. Shapes are complete, batch first; the batch, whose size is open, is -1.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/unique_names.h"
#include "model/shape.h"

namespace hopper {
namespace ops {

enum class Type { kFloat, kInt64, kBool };

struct Attribute {
  std::string name;
  std::variant<int64_t, double, Shape, std::vector<double>, std::string, std::vector<std::string>>
      value;
};

struct Tensor {
  enum class Kind { kInput, kWeight, kConstant, kResult };
  Kind kind = Kind::kResult;
  std::string name;
  Shape shape;
  Type type = Type::kFloat;
  int weight = -1;            // among the model's
  std::vector<float> values;  // of a constant
  int node = -1;              // that makes it
};

struct Operation {
  std::string op;
  std::vector<int> inputs;  // tensors; -1: left out
  std::vector<Attribute> attributes;
  int output = -1;    // tensor
  int place = 0;      // of the output among the operation's own
  std::string layer;  // that it is part of
  std::string layer_type;

  // Null where there is none.
  const Attribute* Find(const std::string& name) const;
  const Shape& Ints(const std::string& name) const;
  int64_t Int(const std::string& name, int64_t fallback) const;
  double Number(const std::string& name, double fallback) const;
  std::string Text(const std::string& name) const;
};

class Graph;

// A tensor of a graph that outlives it.
class Value {
 public:
  Value() = default;
  Value(Graph* graph, int id) : graph_(graph), id_(id) {}

  bool defined() const { return graph_ != nullptr; }
  Graph* graph() const { return graph_; }
  int id() const { return id_; }
  const Tensor& tensor() const;
  const Shape& sizes() const { return tensor().shape; }
  int64_t dim() const { return static_cast<int64_t>(sizes().size()); }
  int64_t size(int64_t axis) const {
    return sizes()[static_cast<size_t>(axis < 0 ? axis + dim() : axis)];
  }
  // As libtorch's.
  Value detach() const { return *this; }
  Type scalar_type() const { return tensor().type; }
  Value to(Type type) const;

 private:
  Graph* graph_ = nullptr;
  int id_ = -1;
};

class Graph {
 public:
  // Names of what follows begin with the layer's.
  void Begin(const std::string& layer, const std::string& layer_type);
  Value Input(const std::string& name, const Shape& shape);
  Value Weight(const std::string& name, int weight, const Shape& shape);
  Value Constant(const std::vector<float>& values, const Shape& shape);
  Value Number(double number) { return Constant({static_cast<float>(number)}, {}); }
  Value Emit(const std::string& op, const std::vector<Value>& inputs,
             std::vector<Attribute> attributes, Shape shape, Type type = Type::kFloat,
             int place = 0);
  // An operation whose elements depend on the elements at their place. A Transpose of all inputs
  // goes behind it, so that two of them meet and vanish: images are laid out as the layers that
  // compute on them want it, and turned where they come and go.
  Value Elementwise(const std::string& op, const std::vector<Value>& inputs,
                    std::vector<Attribute> attributes = {}, Type type = Type::kFloat);
  Value Transposed(const Value& x, const Shape& axes);
  // The result of an operation is called so from now on, unless the name is taken.
  void Name(const Value& value, const std::string& name);
  void Output(const Value& value, const std::string& name);

  const std::deque<Tensor>& tensors() const { return tensors_; }
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  // The operations that outputs need, in order.
  std::vector<const Operation*> Nodes() const;
  // The Transpose that makes a tensor, or null.
  const Operation* TransposeOf(const Value& value) const;
  const Operation* MakerOf(const Value& value, const char* op) const;
  Value Source(const Operation* node) { return {this, node->inputs[0]}; }

 private:
  Value Add(Tensor tensor);
  std::string Unique(const std::string& name);
  void Rename(int tensor, const std::string& name);

  // Their elements stay where they are.
  std::deque<Tensor> tensors_;
  std::deque<Operation> nodes_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
  std::unordered_set<int> given_out_;             // the same
  std::unordered_map<std::string, int> results_;  // tensors that operations make, by name
  std::string layer_;
  std::string layer_type_;
  UniqueNames names_{"_"};
  std::map<std::pair<int, Shape>, int> transposed_;
  std::map<int, int> weights_;
};

// In op_functions.cpp.

// NOLINTBEGIN(readability-identifier-naming)
Value add(const Value& a, const Value& b);
Value sub(const Value& a, const Value& b);
Value mul(const Value& a, const Value& b);
Value div(const Value& a, const Value& b);
Value add(const Value& x, double number);
Value sub(const Value& x, double number);
Value mul(const Value& x, double number);
Value div(const Value& x, double number);
Value rsub(const Value& x, double number);                   // number - x
Value sub(const Value& a, const Value& b, double multiple);  // a - multiple * b
Value maximum(const Value& a, const Value& b);
Value minimum(const Value& a, const Value& b);
Value clamp_min(const Value& x, double least);
Value clamp_max(const Value& x, double most);
Value hardtanh(const Value& x, double least = -1.0, double most = 1.0);
Value gt(const Value& x, double number);
Value ne(const Value& x, double number);
Value eq(const Value& a, const Value& b);
Value gt(const Value& a, const Value& b);
Value ge(const Value& a, const Value& b);
Value logical_and(const Value& a, const Value& b);
Value logical_or(const Value& a, const Value& b);
Value logical_not(const Value& x);
Value where(const Value& condition, const Value& x, const Value& y);
Value where(const Value& condition, const Value& x, double y);
Value abs(const Value& x);
Value floor(const Value& x);
Value round(const Value& x);  // halves to even numbers
Value sign(const Value& x);
Value fmod(const Value& a, const Value& b);  // C's: with a's sign
Value exp(const Value& x);
Value neg(const Value& x);
Value sqrt(const Value& x);
Value square(const Value& x);
Value log(const Value& x);
Value sin(const Value& x);
Value cos(const Value& x);
Value atan(const Value& x);
Value pow(const Value& x, const Value& exponent);
Value tanh(const Value& x);
Value sigmoid(const Value& x);
Value hardsigmoid(const Value& x);
Value log_sigmoid(const Value& x);
Value softplus(const Value& x);
Value relu(const Value& x);
Value leaky_relu(const Value& x, double slope);
Value elu(const Value& x, double alpha);
Value celu(const Value& x, double alpha);
Value selu(const Value& x);
Value silu(const Value& x);
Value gelu(const Value& x);
Value gelu(const Value& x, const char* approximate);
Value mish(const Value& x);
Value hardshrink(const Value& x, double threshold);
Value softshrink(const Value& x, double threshold);
Value softmax(const Value& x, int64_t axis);
Value log_softmax(const Value& x, int64_t axis);
Value glu(const Value& x, int64_t axis);
std::tuple<Value, Value> sort(const Value& x, int64_t axis, bool descending);  // without places
Value cumsum(const Value& x, int64_t axis);
Value ones_like(const Value& x);  // along the last axis, to be broadcast
Value sum(const Value& x, const Shape& axes, bool keepdim = false);
Value mean(const Value& x, const Shape& axes, bool keepdim = false);
Value amax(const Value& x, const Shape& axes, bool keepdim = false);
Value amin(const Value& x, const Shape& axes, bool keepdim = false);
Value prod(Value x, const Shape& axes, bool keepdim = false);  // ascending axes
Value any(const Value& x, int64_t axis, bool keepdim = false);

Value matmul(const Value& a, const Value& b);
Value einsum(const std::string& equation, const std::vector<Value>& values, const Shape& shape);
// One of the sizes may be -1: the batch's.
Value reshape(const Value& x, const Shape& sizes);
Value permute(const Value& x, const Shape& axes);
Value cat(const std::vector<Value>& values, int64_t axis);
Value narrow(const Value& x, int64_t axis, int64_t from, int64_t size);
// Every `step`-th from `from` to before `to`, which must fit; step above 0.
Value slice(const Value& x, int64_t axis, int64_t from, int64_t to, int64_t step);
Value flip(const Value& x, int64_t axis);
// Sizes of 1 as often as it says; others stay, and are 1 there.
Value expand(const Value& x, const Shape& times);
// Zeros at the start and the end of each axis; what is below 0 is cut off.
Value pad(const Value& x, const Shape& before, const Shape& after);
Value embedding(const Value& table, const Value& ids);
// NOLINTEND(readability-identifier-naming)

}  // namespace ops
}  // namespace hopper
