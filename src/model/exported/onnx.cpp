// The ONNX file, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, written field by field:
// numbers of fields are facts of the format. Not by libprotobuf, of which libtorch has a copy of
// its own in the same process.
#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/exported/export_model.h"
#include "model/exported/model_graph.h"
#include "model/exported/protobuf.h"

namespace hopper {

using ops::Attribute;
using ops::Graph;
using ops::Tensor;
using ops::Type;

namespace {

constexpr int64_t kIrVersion = 8;
constexpr int64_t kOpset = 17;

// TensorProto.DataType
int64_t TypeNumber(Type type) { return type == Type::kFloat ? 1 : type == Type::kInt64 ? 7 : 9; }

// Attributes of the graph that opset 17 has as inputs, behind the others, in order.
const std::map<std::string, std::vector<std::string>>& LateInputs() {
  static const std::map<std::string, std::vector<std::string>> table = {
      {"Clip", {"min", "max"}},
      {"CumSum", {"axis"}},
      {"Expand", {"shape"}},
      {"Pad", {"pads"}},
      {"ReduceSum", {"axes"}},
      {"Reshape", {"shape"}},
      {"Resize", {"", "scales"}},
      {"Slice", {"starts", "ends", "axes", "steps"}},
      {"TopK", {"k"}},
  };
  return table;
}

template <typename T>
std::string Raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string JsonText(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Written by hand: see JsonDocument.
std::string JsonList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "[" : ",") + JsonText(text);
  return list + "]";
}

// `values`: JSON by key.
std::string JsonObject(const std::map<std::string, std::string>& values) {
  std::string object;
  for (const auto& [key, value] : values) {
    object += (object.empty() ? "{" : ",") + JsonText(key) + ":" + value;
  }
  return object + "}";
}

// A TensorProto without its data.
Message TensorHead(const std::string& name, const Shape& shape, Type type) {
  Message tensor;
  for (const int64_t size : shape) tensor.Int(1, size);
  tensor.Int(2, TypeNumber(type));
  tensor.Bytes(8, name);
  return tensor;
}

Message ShapeOfValue(const Shape& shape) {
  Message out;
  for (const int64_t size : shape) {
    Message dimension;
    if (size < 0) {
      dimension.Bytes(2, "batch");
    } else {
      dimension.Int(1, size);
    }
    out.Put(1, dimension);
  }
  return out;
}

Message ValueInfo(const Tensor& tensor) {
  Message of_tensor;
  of_tensor.Int(1, TypeNumber(tensor.type));
  of_tensor.Put(2, ShapeOfValue(tensor.shape));
  Message type;
  type.Put(1, of_tensor);
  Message info;
  info.Bytes(1, tensor.name);
  info.Put(2, type);
  return info;
}

Message AttributeProto(const Attribute& attribute) {
  Message out;
  out.Bytes(1, attribute.name);
  const auto type = [&](int64_t number) { out.Int(20, number); };
  if (const auto* integer = std::get_if<int64_t>(&attribute.value)) {
    out.Int(3, *integer);
    type(2);
  } else if (const auto* number = std::get_if<double>(&attribute.value)) {
    out.Float(2, static_cast<float>(*number));
    type(1);
  } else if (const auto* integers = std::get_if<Shape>(&attribute.value)) {
    for (const int64_t one : *integers) out.Int(8, one);
    type(7);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&attribute.value)) {
    for (const double one : *numbers) out.Float(7, static_cast<float>(one));
    type(6);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    out.Bytes(4, *text);
    type(3);
  } else {
    for (const std::string& one : std::get<std::vector<std::string>>(attribute.value)) {
      out.Bytes(9, one);
    }
    type(8);
  }
  return out;
}

// The value of an attribute as a constant tensor.
Message ConstantOf(const std::string& name, const std::string& op, const Attribute& attribute) {
  if (const auto* number = std::get_if<double>(&attribute.value)) {
    Message tensor = TensorHead(name, {}, Type::kFloat);
    tensor.Bytes(9, Raw<float>({static_cast<float>(*number)}));
    return tensor;
  }
  if (const auto* numbers = std::get_if<std::vector<double>>(&attribute.value)) {
    Message tensor = TensorHead(name, {static_cast<int64_t>(numbers->size())}, Type::kFloat);
    tensor.Bytes(9, Raw(std::vector<float>(numbers->begin(), numbers->end())));
    return tensor;
  }
  if (const auto* integer = std::get_if<int64_t>(&attribute.value)) {
    Message tensor = TensorHead(name, {}, Type::kInt64);
    tensor.Bytes(9, Raw<int64_t>({*integer}));
    return tensor;
  }
  const Shape& list = std::get<Shape>(attribute.value);
  Message tensor = TensorHead(name, {static_cast<int64_t>(list.size())}, Type::kInt64);
  tensor.Bytes(9, Raw(list));
  (void)op;
  return tensor;
}

class Writer {
 public:
  explicit Writer(const ModelExport& model) : model_(model) { MakeGraph(model, &graph_); }

  std::vector<FilePiece> Write() {
    for (const ops::Operation* node : graph_.Nodes()) AddNode(*node);
    Message head;
    head.Bytes(2, model_.spec->name.empty() ? "model" : model_.spec->name);
    for (const int input : graph_.inputs()) head.Put(11, ValueInfo(At(input)));
    for (const int output : graph_.outputs()) head.Put(12, ValueInfo(At(output)));
    // The graph's fields may come in any order: its weights, which are long, come last.
    body_ = head.Take() + body_;
    std::vector<FilePiece> pieces;
    std::vector<int64_t> first = {0};  // of each weight among the model's values
    for (const WeightSpec& weight : model_.spec->weights) {
      first.push_back(first.back() + weight.size());
    }
    size_t size = body_.size();
    for (const int weight : weights_) {
      const Tensor& tensor = At(weight);
      FilePiece piece;
      piece.count = ElementCount(tensor.shape);
      const size_t bytes = static_cast<size_t>(piece.count) * sizeof(float);
      Message proto = TensorHead(tensor.name, tensor.shape, Type::kFloat);
      proto.Begin(9, bytes);
      piece.bytes = Message::Header(5, proto.bytes().size() + bytes) + proto.bytes();
      piece.first = first[static_cast<size_t>(tensor.weight)];
      size += piece.bytes.size() + bytes;
      pieces.push_back(std::move(piece));
    }
    FilePiece begin;
    begin.bytes = Head() + Message::Header(7, size) + body_;
    pieces.insert(pieces.begin(), std::move(begin));
    return pieces;
  }

 private:
  const Tensor& At(int id) const { return graph_.tensors()[static_cast<size_t>(id)]; }

  std::string Head() const {
    Message head;
    head.Int(1, kIrVersion);
    Message opset;
    opset.Bytes(1, "");
    opset.Int(2, kOpset);
    head.Put(8, opset);
    head.Bytes(2, "Model Hopper");
    const auto property = [&](const char* key, const std::string& value) {
      Message entry;
      entry.Bytes(1, key);
      entry.Bytes(2, value);
      head.Put(14, entry);
    };
    property("model_arch", std::string(model_.json));
    if (model_.normalizing_const != 1.0) {
      property("normalizing_const", nlohmann::json(model_.normalizing_const).dump());
    }
    // Of several outputs by their names.
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> classes;
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      const std::string& name = model_.spec->outputs[i].name;
      labels[name] = JsonText(model_.outputs[i].label);
      if (!model_.outputs[i].classes.empty()) classes[name] = JsonList(model_.outputs[i].classes);
    }
    const bool several = model_.spec->outputs.size() > 1;
    if (several && !labels.empty()) property("label", JsonObject(labels));
    if (!several && !labels.empty()) property("label", model_.outputs[0].label);
    if (!classes.empty()) {
      property("classes", several ? JsonObject(classes) : classes.begin()->second);
    }
    if (!model_.features.empty()) property("features", model_.features);
    if (!model_.schema.empty()) property("schema", model_.schema);
    return head.Take();
  }

  void AddInput(int id) {
    const Tensor& tensor = At(id);
    if (!known_.insert(id).second) return;
    if (tensor.kind == Tensor::Kind::kWeight) weights_.push_back(id);
    if (tensor.kind != Tensor::Kind::kConstant) return;
    Message constant = TensorHead(tensor.name, tensor.shape, Type::kFloat);
    constant.Bytes(9, Raw(tensor.values));
    Append(5, constant);
  }

  void AddNode(const ops::Operation& node) {
    const std::string& output = At(node.output).name;
    Message out;
    for (const int input : node.inputs) {
      out.Bytes(1, input < 0 ? "" : At(input).name);
      if (input >= 0) AddInput(input);
    }
    const auto late = LateInputs().find(node.op);
    const std::vector<std::string> none;
    const std::vector<std::string>& inputs = late == LateInputs().end() ? none : late->second;
    for (const std::string& name : inputs) {
      const Attribute* attribute = node.Find(name);
      if (attribute == nullptr) {
        if (name.empty()) out.Bytes(1, "");
        continue;
      }
      out.Bytes(1, output + "." + name);
      Append(5, ConstantOf(output + "." + name, node.op, *attribute));
    }
    for (int i = 0; i < node.place; ++i) out.Bytes(2, "");
    out.Bytes(2, output);
    // The second output of TopK is not left out.
    if (node.op == "TopK") out.Bytes(2, output + ".places");
    out.Bytes(3, output);
    out.Bytes(4, node.op);
    for (const Attribute& attribute : node.attributes) {
      if (std::find(inputs.begin(), inputs.end(), attribute.name) != inputs.end()) continue;
      out.Put(5, AttributeProto(attribute));
    }
    Append(1, out);
  }

  void Append(int field, const Message& message) {
    body_ += Message::Header(field, message.bytes().size()) + message.bytes();
  }

  const ModelExport& model_;
  Graph graph_;
  std::set<int> known_;
  std::vector<int> weights_;
  std::string body_;  // of the graph
};

}  // namespace

std::vector<FilePiece> OnnxFile(const ModelExport& model) { return Writer(model).Write(); }

}  // namespace hopper
