// Generated PyTorch source: a module with the model's weights.
#include <cctype>
#include <map>
#include <set>

#include "model/exported/export_model.h"
#include "model/exported/model_graph.h"
#include "model/exported/pytorch_operations.h"
#include "model/weights/safetensors.h"

namespace hopper {

using ops::Graph;
using ops::Operation;
using ops::Tensor;
using pytorch::Call;
using pytorch::Joined;
using pytorch::NumberOf;
using pytorch::Quoted;
using pytorch::Texts;
using pytorch::Tuple;

namespace {

const std::set<std::string>& Keywords() {
  static const std::set<std::string> words = {
      "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
      "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
      "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
      "while", "with", "yield",
      // what the source uses
      "self", "torch", "nn", "F", "math", "json", "struct", "Model", "CLASSES", "lstm", "gru",
      "rnn", "average_pool", "abs"};
  return words;
}

class Printer {
 public:
  explicit Printer(const ModelExport& model) : model_(model) {
    MakeGraph(model, &graph_);
    nodes_ = graph_.Nodes();
    for (const Operation* node : nodes_) {
      for (const int input : node->inputs) {
        if (input >= 0) ++readers_[input];
      }
    }
    for (const int output : graph_.outputs()) readers_[output] += 2;
  }

  std::string Print() {
    Texts arguments;
    for (const int input : graph_.inputs()) arguments.push_back(VariableOf(input));
    NameWeights();
    const std::string forward = Forward();
    const std::string name = model_.spec->name.empty() ? "model" : model_.spec->name;
    std::string source =
        "\"\"\"Model " + Comment(name) +
        " for PyTorch, written by hopper.to_pytorch().\n\n"
        "    model = Model(\"weights.safetensors\")  # of hopper.to_safetensors()\n"
        "    with torch.no_grad():\n        outputs = model(" +
        Joined(arguments) +
        ")\n\nInputs are float32, batch first and channels last, as in the table that the model "
        "was "
        "trained\non. Weights have Keras' shapes.\n\"\"\"\n\n"
        "import json\nimport math\nimport struct\n\nimport torch\nimport torch.nn.functional as F\n"
        "from torch import nn\n";
    source += Classes();
    // A list or dictionary of texts is written alike in JSON and in Python.
    if (!model_.features.empty()) {
      source +=
          std::string(model_.schema.empty()
                          ? "\n# Columns of the table, in the order of the input.\n"
                          : "\n# Columns of the table. The input is what their treatments make of "
                            "them, as hopper.transform_rows() gives it.\n") +
          "FEATURES = " + model_.features + "\n";
    }
    for (const std::string& helper : helpers_) source += "\n" + helper;
    source +=
        "\n\nclass Model(nn.Module):\n    # attribute: name in the file, shape, trainable\n"
        "    WEIGHTS = {\n" +
        weights_ +
        "    }\n\n"
        "    def __init__(self, path=None):\n        super().__init__()\n"
        "        for attribute, (_, shape, trainable) in self.WEIGHTS.items():\n"
        "            weight = torch.zeros(shape)\n"
        "            if trainable:\n"
        "                self.register_parameter(attribute, nn.Parameter(weight))\n"
        "            else:\n                self.register_buffer(attribute, weight)\n" +
        constants_ +
        "        if path is not None:\n            self.load(path)\n\n"
        "    @torch.no_grad()\n    def load(self, path):\n"
        "        with open(path, \"rb\") as file:\n"
        "            header = json.loads(file.read(struct.unpack(\"<Q\", file.read(8))[0]))\n"
        "            data = bytearray(file.read())\n"
        "        for attribute, (name, shape, _) in self.WEIGHTS.items():\n"
        "            entry = header[name]\n"
        "            if tuple(entry[\"shape\"]) != shape or entry[\"dtype\"] != \"F32\":\n"
        "                raise ValueError(f\"{name} is not float32 of shape {shape}\")\n"
        "            begin, end = entry[\"data_offsets\"]\n"
        "            values = torch.frombuffer(data[begin:end], dtype=torch.float32)\n"
        "            getattr(self, attribute).copy_(values.reshape(shape))\n\n"
        "    def forward(self, " +
        Joined(arguments) + "):\n" + forward;
    return source;
  }

 private:
  const Tensor& At(int id) const { return graph_.tensors()[static_cast<size_t>(id)]; }

  std::string Classes() const {
    const bool several = model_.spec->outputs.size() > 1;
    std::string text;
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      const ModelExport::Output& output = model_.outputs[i];
      if (output.classes.empty()) continue;
      Texts classes;
      for (const std::string& one : output.classes) classes.push_back(Quoted(one));
      const std::string list = "[" + Joined(classes) + "]";
      const std::string comment = "  # " + Comment(output.label) + "\n";
      text += several ? "    " + Quoted(model_.spec->outputs[i].name) + ": " + list + "," + comment
                      : "CLASSES = " + list + comment;
    }
    if (text.empty()) return "";
    return "\n# One for each place of an output, or two for a single one.\n" +
           (several ? "CLASSES = {\n" + text + "}\n" : text);
  }

  // Without what would end a comment or a text.
  static std::string Comment(const std::string& text) {
    const std::string quoted = Quoted(text);
    std::string plain;
    for (const char c : quoted.substr(1, quoted.size() - 2)) {
      if (c != '\\' && c != '"') plain += c;
    }
    return plain;
  }

  std::string Identifier(const std::string& name) {
    std::string plain;
    for (const char c : name) {
      plain += std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<signed char>(c) > 0
                   ? c
                   : '_';
    }
    if (plain.empty() || std::isdigit(static_cast<unsigned char>(plain[0])) != 0 ||
        Keywords().count(plain) > 0) {
      plain.insert(0, "x_");
    }
    // Members of nn.Module are written without a number at their end.
    return taken_.Take(plain);
  }

  std::string VariableOf(int id) {
    std::string& name = texts_[id];
    if (name.empty()) name = Identifier(At(id).name);
    return name;
  }

  // All weights of the model, so that they can go back.
  void NameWeights() {
    const ModelSpec& spec = *model_.spec;
    const std::vector<std::string> names = TensorNames(spec);
    std::map<int, std::string> attributes;
    for (size_t i = 0; i < names.size(); ++i) {
      // Members of nn.Module have no such names.
      const std::string attribute = Identifier("w_" + names[i]);
      attributes[static_cast<int>(i)] = attribute;
      weights_ += "        \"" + attribute + "\": (" + Quoted(names[i]) + ", " +
                  Tuple(spec.weights[i].shape) + ", " +
                  (spec.weights[i].trainable ? "True" : "False") + "),\n";
    }
    for (size_t id = 0; id < graph_.tensors().size(); ++id) {
      const Tensor& tensor = graph_.tensors()[id];
      if (tensor.kind == Tensor::Kind::kWeight) {
        texts_[static_cast<int>(id)] = "self." + attributes[tensor.weight];
      }
    }
  }

  std::string TextOf(int id) {
    const Tensor& tensor = At(id);
    const auto known = texts_.find(id);
    if (known != texts_.end()) return known->second;
    if (tensor.kind != Tensor::Kind::kConstant) return VariableOf(id);
    if (tensor.shape.empty()) {
      const std::string number = NumberOf(tensor.values[0]);
      return texts_[id] = number[0] == '-' ? "(" + number + ")" : number;
    }
    const std::string attribute = Identifier("c_" + tensor.name);
    std::string values;
    for (const float value : tensor.values)
      values += (values.empty() ? "" : ", ") + NumberOf(value);
    constants_ += "        values = torch.tensor([" + values +
                  "])\n        self.register_buffer(\"" + attribute + "\", values.reshape(" +
                  Tuple(tensor.shape) + "), persistent=False)\n";
    return texts_[id] = "self." + attribute;
  }

  bool IsPlace(const Operation& node) const {
    return node.op == "Transpose" || node.op == "Reshape" || node.op == "Cast";
  }

  std::string Forward() {
    std::string body;
    std::string layer;
    for (const Operation* node : nodes_) {
      Call call{node, &graph_, {}, &helpers_};
      for (const int input : node->inputs) call.in.push_back(input < 0 ? "None" : TextOf(input));
      const std::string expression = pytorch::Expression(call);
      // What only lays a weight out otherwise stands where it is used.
      const bool of_weight = call.in[0].rfind("self.", 0) == 0;
      if (of_weight && IsPlace(*node) && readers_[node->output] == 1) {
        texts_[node->output] = expression;
        continue;
      }
      if (node->layer != layer) {
        layer = node->layer;
        body += "        # " + Comment(node->layer) +
                (node->layer_type.empty() ? "" : ": " + node->layer_type) + "\n";
      }
      body += "        " + VariableOf(node->output) + " = " + expression + "\n";
    }
    Texts outputs;
    for (const int output : graph_.outputs()) outputs.push_back(TextOf(output));
    return body + "        return " + Joined(outputs) + "\n";
  }

  const ModelExport& model_;
  Graph graph_;
  std::vector<const Operation*> nodes_;
  std::map<int, int> readers_;
  std::map<int, std::string> texts_;  // by tensor
  UniqueNames taken_{"_"};
  std::set<std::string> helpers_;
  std::string weights_;
  std::string constants_;
};

}  // namespace

std::string PytorchSource(const ModelExport& model) { return Printer(model).Print(); }

}  // namespace hopper
