#include "model/exported/op_graph.h"

#include <algorithm>

namespace hopper {
namespace ops {
namespace {

bool IsScalar(const Value& value) { return value.sizes().empty(); }

Shape Broadcast(const std::vector<Value>& inputs) {
  Shape shape;
  for (const Value& input : inputs) {
    const Shape& own = input.sizes();
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    const size_t first = shape.size() - own.size();
    for (size_t i = 0; i < own.size(); ++i) {
      int64_t& size = shape[first + i];
      if (size >= 0 && (own[i] < 0 || own[i] > size)) size = own[i];
    }
  }
  return shape;
}

}  // namespace

const Attribute* Operation::Find(const std::string& name) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

const Shape& Operation::Ints(const std::string& name) const {
  static const Shape none;
  const Attribute* found = Find(name);
  return found == nullptr ? none : std::get<Shape>(found->value);
}

int64_t Operation::Int(const std::string& name, int64_t fallback) const {
  const Attribute* found = Find(name);
  return found == nullptr ? fallback : std::get<int64_t>(found->value);
}

double Operation::Number(const std::string& name, double fallback) const {
  const Attribute* found = Find(name);
  return found == nullptr ? fallback : std::get<double>(found->value);
}

std::string Operation::Text(const std::string& name) const {
  const Attribute* found = Find(name);
  return found == nullptr ? "" : std::get<std::string>(found->value);
}

const Tensor& Value::tensor() const { return graph_->tensors()[static_cast<size_t>(id_)]; }

Value Value::to(Type type) const {
  if (type == scalar_type()) return *this;
  // ONNX's numbers of the types.
  const int64_t to = type == Type::kFloat ? 1 : type == Type::kInt64 ? 7 : 9;
  return graph_->Elementwise("Cast", {*this}, {{"to", to}}, type);
}

void Graph::Begin(const std::string& layer, const std::string& layer_type) {
  layer_ = layer;
  layer_type_ = layer_type;
}

std::string Graph::Unique(const std::string& name) { return names_.Take(name); }

Value Graph::Add(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return {this, static_cast<int>(tensors_.size()) - 1};
}

Value Graph::Input(const std::string& name, const Shape& shape) {
  Tensor tensor;
  tensor.kind = Tensor::Kind::kInput;
  tensor.name = Unique(name);
  tensor.shape = shape;
  const Value value = Add(std::move(tensor));
  inputs_.push_back(value.id());
  return value;
}

Value Graph::Weight(const std::string& name, int weight, const Shape& shape) {
  const auto known = weights_.find(weight);
  if (known != weights_.end()) return {this, known->second};
  Tensor tensor;
  tensor.kind = Tensor::Kind::kWeight;
  tensor.name = Unique(name);
  tensor.shape = shape;
  tensor.weight = weight;
  const Value value = Add(std::move(tensor));
  weights_.emplace(weight, value.id());
  return value;
}

Value Graph::Constant(const std::vector<float>& values, const Shape& shape) {
  Tensor tensor;
  tensor.kind = Tensor::Kind::kConstant;
  tensor.name = Unique(layer_ + "/constant");
  tensor.shape = shape;
  tensor.values = values;
  return Add(std::move(tensor));
}

Value Graph::Emit(const std::string& op, const std::vector<Value>& inputs,
                  std::vector<Attribute> attributes, Shape shape, Type type, int place) {
  Tensor tensor;
  tensor.name = Unique(layer_ + "/" + op);
  tensor.shape = std::move(shape);
  tensor.type = type;
  tensor.node = static_cast<int>(nodes_.size());
  const Value value = Add(std::move(tensor));
  results_.emplace(value.tensor().name, value.id());
  Operation node;
  node.op = op;
  for (const Value& input : inputs) node.inputs.push_back(input.defined() ? input.id() : -1);
  node.attributes = std::move(attributes);
  node.output = value.id();
  node.place = place;
  node.layer = layer_;
  node.layer_type = layer_type_;
  nodes_.push_back(std::move(node));
  return value;
}

const Operation* Graph::MakerOf(const Value& value, const char* op) const {
  const int node = value.tensor().node;
  if (node < 0 || nodes_[static_cast<size_t>(node)].op != op) return nullptr;
  return &nodes_[static_cast<size_t>(node)];
}

const Operation* Graph::TransposeOf(const Value& value) const {
  return MakerOf(value, "Transpose");
}

Value Graph::Elementwise(const std::string& op, const std::vector<Value>& inputs,
                         std::vector<Attribute> attributes, Type type) {
  const Operation* transpose = nullptr;
  bool all = true;
  for (const Value& input : inputs) {
    if (IsScalar(input)) continue;
    const Operation* own = TransposeOf(input);
    all = all && own != nullptr &&
          (transpose == nullptr || transpose->Ints("perm") == own->Ints("perm"));
    transpose = own;
  }
  if (!all || transpose == nullptr) {
    return Emit(op, inputs, std::move(attributes), Broadcast(inputs), type);
  }
  const Shape order = transpose->Ints("perm");
  std::vector<Value> sources;
  for (const Value& input : inputs) {
    sources.push_back(IsScalar(input) ? input : Source(TransposeOf(input)));
  }
  return Transposed(Emit(op, sources, std::move(attributes), Broadcast(sources), type), order);
}

Value Graph::Transposed(const Value& x, const Shape& axes) {
  if (const Operation* before = TransposeOf(x)) {
    Shape both;
    for (const int64_t axis : axes) both.push_back(before->Ints("perm")[static_cast<size_t>(axis)]);
    return Transposed(Source(before), both);
  }
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  const auto known = transposed_.find({x.id(), axes});
  if (known != transposed_.end()) return {this, known->second};
  Shape shape;
  for (const int64_t axis : axes) shape.push_back(x.size(axis));
  const Value y = Emit("Transpose", {x}, {{"perm", axes}}, shape, x.scalar_type());
  transposed_.emplace(std::pair<int, Shape>(x.id(), axes), y.id());
  return y;
}

void Graph::Name(const Value& value, const std::string& name) {
  const Tensor& tensor = value.tensor();
  if (tensor.kind != Tensor::Kind::kResult || !names_.TakeAsItIs(name)) return;
  names_.GiveBack(tensor.name);
  Rename(value.id(), name);
}

void Graph::Rename(int tensor, const std::string& name) {
  std::string& own = tensors_[static_cast<size_t>(tensor)].name;
  results_.erase(own);
  own = name;
  results_.emplace(own, tensor);
}

void Graph::Output(const Value& value, const std::string& name) {
  const bool shared = given_out_.count(value.id()) > 0;
  Value output = value;
  if (shared || value.tensor().kind != Tensor::Kind::kResult) {
    output = Emit("Identity", {value}, {}, value.sizes(), value.scalar_type());
  }
  // An operation within the layer may have the name.
  if (output.tensor().name != name) {
    const auto other = results_.find(name);
    if (other != results_.end()) Rename(other->second, Unique(name));
    names_.GiveBack(output.tensor().name);
    Rename(output.id(), Unique(name));
  }
  outputs_.push_back(output.id());
  given_out_.insert(output.id());
}

std::vector<const Operation*> Graph::Nodes() const {
  std::vector<bool> needed(tensors_.size(), false);
  for (const int output : outputs_) needed[static_cast<size_t>(output)] = true;
  std::vector<const Operation*> nodes;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (!needed[static_cast<size_t>(node->output)]) continue;
    nodes.push_back(&*node);
    for (const int input : node->inputs) {
      if (input >= 0) needed[static_cast<size_t>(input)] = true;
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace ops
}  // namespace hopper
