// Generated PyTorch source: a row of Rows() for each operation.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/exported/export_model.h"
#include "model/exported/model_graph.h"
#include "model/safetensors.h"

namespace hopper {

using ops::Graph;
using ops::Operation;
using ops::Tensor;
using ops::Type;

namespace {

using Texts = std::vector<std::string>;

// Helpers of the generated source, each written where it is called.
constexpr const char* kLstm = R"(
def lstm(x, kernel, recurrent_kernel, bias, activations, whole):
    """x [steps, batch, features]; gates are i, o, f, c, as ONNX has them."""
    gate, cell, out = activations
    units = recurrent_kernel.shape[-1]
    h = c = x.new_zeros(x.shape[1], units)
    steps = []
    for step in F.linear(x, kernel[0], None if bias is None else bias[0, :4 * units]):
        i, o, f, g = (step + F.linear(h, recurrent_kernel[0])).chunk(4, -1)
        c = gate(f) * c + gate(i) * cell(g)
        h = gate(o) * out(c)
        steps.append(h)
    return torch.stack(steps).unsqueeze(1) if whole else h.unsqueeze(0)
)";

constexpr const char* kGru = R"(
def gru(x, kernel, recurrent_kernel, bias, activations, reset_after, whole):
    """x [steps, batch, features]; gates are z, r, h."""
    gate, candidate = activations
    units = recurrent_kernel.shape[-1]
    if bias is None:
        bias = x.new_zeros(1, 6 * units)
    of_input, of_state = bias[0, :3 * units], bias[0, 3 * units:]
    wz, wr, wh = recurrent_kernel[0].chunk(3)
    bz, br, bh = of_state.chunk(3)
    h = x.new_zeros(x.shape[1], units)
    steps = []
    for step in F.linear(x, kernel[0], of_input):
        xz, xr, xh = step.chunk(3, -1)
        z = gate(xz + F.linear(h, wz, bz))
        r = gate(xr + F.linear(h, wr, br))
        if reset_after:
            made = candidate(xh + r * F.linear(h, wh, bh))
        else:
            made = candidate(xh + F.linear(r * h, wh, bh))
        h = z * h + (1 - z) * made
        steps.append(h)
    return torch.stack(steps).unsqueeze(1) if whole else h.unsqueeze(0)
)";

constexpr const char* kRnn = R"(
def rnn(x, kernel, recurrent_kernel, bias, activations, whole):
    """x [steps, batch, features]."""
    units = recurrent_kernel.shape[-1]
    h = x.new_zeros(x.shape[1], units)
    steps = []
    for step in F.linear(x, kernel[0], None if bias is None else bias[0, :units]):
        h = activations[0](step + F.linear(h, recurrent_kernel[0]))
        steps.append(h)
    return torch.stack(steps).unsqueeze(1) if whole else h.unsqueeze(0)
)";

constexpr const char* kAveragePool = R"(
def average_pool(pool, x, size, stride, padding):
    """Cells of the padding are not counted."""
    inside = F.pad(torch.ones_like(x[:1, :1]), padding)
    return pool(F.pad(x, padding), size, stride) / pool(inside, size, stride)
)";

std::string NumberOf(double number) {
  if (std::isinf(number)) return number < 0 ? "-math.inf" : "math.inf";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", number);
  const std::string written = text;
  return written.find_first_of(".en") == std::string::npos ? written + ".0" : written;
}

// "(1, 2)", "(1,)"
std::string Tuple(const Shape& numbers) {
  std::string text = "(";
  for (size_t i = 0; i < numbers.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  }
  return text + (numbers.size() == 1 ? ",)" : ")");
}

std::string Joined(const Texts& texts) {
  std::string text;
  for (size_t i = 0; i < texts.size(); ++i) text += (i > 0 ? ", " : "") + texts[i];
  return text;
}

std::string Quoted(const std::string& text) {
  // JSON's strings in ASCII are Python's, too.
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

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

// What a form of an operation is made of.
struct Call {
  const Operation* node;
  const Graph* graph;
  Texts in;
  std::set<std::string>* helpers;

  const Tensor& Input(size_t i) const {
    return graph->tensors()[static_cast<size_t>(node->inputs[i])];
  }
  const Tensor& Output() const { return graph->tensors()[static_cast<size_t>(node->output)]; }
  // Inputs that may be missing at the end.
  std::string In(size_t i) const { return i < in.size() ? in[i] : "None"; }
  std::string Axis(const char* name) const { return std::to_string(node->Int(name, -1)); }
  size_t SpatialAxes() const { return Input(0).shape.size() - 2; }
};

using Row = std::function<std::string(const Call&)>;

// F.pad()'s: the last axis first, start and end of each.
Shape TorchPads(const Shape& pads) {
  Shape out;
  const size_t axes = pads.size() / 2;
  for (size_t i = axes; i-- > 0;) {
    out.push_back(pads[i]);
    out.push_back(pads[axes + i]);
  }
  while (out.size() > 2 && out[out.size() - 1] == 0 && out[out.size() - 2] == 0) {
    out.resize(out.size() - 2);
  }
  return out;
}

bool IsEven(const Shape& pads) {
  const size_t axes = pads.size() / 2;
  return std::equal(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes),
                    pads.begin() + static_cast<std::ptrdiff_t>(axes));
}

Shape Half(const Shape& pads) {
  return {pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2)};
}

std::string Convolution(const Call& call) {
  const Shape& pads = call.node->Ints("pads");
  const std::string x =
      IsEven(pads) ? call.in[0] : "F.pad(" + call.in[0] + ", " + Tuple(TorchPads(pads)) + ")";
  std::string text = "F.conv" + std::to_string(call.SpatialAxes()) + "d(" + x + ", " + call.in[1];
  if (call.in.size() > 2) text += ", " + call.in[2];
  const auto add = [&](const char* name, const Shape& values, int64_t usual) {
    const bool all =
        std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == usual; });
    if (!all) text += std::string(", ") + name + "=" + Tuple(values);
  };
  add("stride", call.node->Ints("strides"), 1);
  if (IsEven(pads)) add("padding", Half(pads), 0);
  add("dilation", call.node->Ints("dilations"), 1);
  const int64_t groups = call.node->Int("group", 1);
  if (groups != 1) text += ", groups=" + std::to_string(groups);
  return text + ")";
}

std::string MaximumPooling(const Call& call) {
  const Shape& pads = call.node->Ints("pads");
  std::string x = call.in[0];
  const bool none = std::all_of(pads.begin(), pads.end(), [](int64_t size) { return size == 0; });
  if (!none) x = "F.pad(" + x + ", " + Tuple(TorchPads(pads)) + ", value=-math.inf)";
  return "F.max_pool" + std::to_string(call.SpatialAxes()) + "d(" + x + ", " +
         Tuple(call.node->Ints("kernel_shape")) + ", " + Tuple(call.node->Ints("strides")) + ")";
}

std::string AveragePooling(const Call& call) {
  const Shape& pads = call.node->Ints("pads");
  const std::string pool = "F.avg_pool" + std::to_string(call.SpatialAxes()) + "d";
  const std::string sizes =
      Tuple(call.node->Ints("kernel_shape")) + ", " + Tuple(call.node->Ints("strides"));
  if (std::all_of(pads.begin(), pads.end(), [](int64_t size) { return size == 0; })) {
    return pool + "(" + call.in[0] + ", " + sizes + ")";
  }
  call.helpers->insert(kAveragePool);
  return "average_pool(" + pool + ", " + call.in[0] + ", " + sizes + ", " + Tuple(TorchPads(pads)) +
         ")";
}

std::string Slicing(const Call& call) {
  const size_t axis = static_cast<size_t>(call.node->Ints("axes")[0]);
  const int64_t step = call.node->Find("steps") == nullptr ? 1 : call.node->Ints("steps")[0];
  if (step < 0) return call.in[0] + ".flip(" + std::to_string(axis) + ")";
  std::string text = call.in[0] + "[";
  for (size_t i = 0; i < axis; ++i) text += ":, ";
  return text + std::to_string(call.node->Ints("starts")[0]) + ":" +
         std::to_string(call.node->Ints("ends")[0]) +
         (step == 1 ? "]" : ":" + std::to_string(step) + "]");
}

std::string Expanding(const Call& call) {
  Shape times = call.node->Ints("shape");
  for (int64_t& size : times) {
    if (size == 1) size = -1;
  }
  return call.in[0] + ".expand" + Tuple(times);
}

std::string Resizing(const Call& call) {
  const std::string mode = call.node->Text("mode") == "linear"
                               ? "mode=\"bilinear\", align_corners=False"
                               : "mode=\"nearest\"";
  const Shape& shape = call.Output().shape;
  return "F.interpolate(" + call.in[0] + ", size=" + Tuple({shape.begin() + 2, shape.end()}) +
         ", " + mode + ")";
}

Row Reducing(const char* function) {
  return [function](const Call& call) {
    return std::string("torch.") + function + "(" + call.in[0] + ", " +
           Tuple(call.node->Ints("axes")) +
           (call.node->Int("keepdims", 0) != 0 ? ", keepdim=True)" : ")");
  };
}

Row Function(const char* function) {
  return [function](const Call& call) { return function + ("(" + Joined(call.in) + ")"); };
}

// Numbers stand beside a tensor: an operator takes them.
Row Infix(const char* sign) {
  return [sign](const Call& call) { return call.in[0] + " " + sign + " " + call.in[1]; };
}

Row WithNumber(const char* function, const char* attribute) {
  return [function, attribute](const Call& call) {
    return function + ("(" + call.in[0] + ", " + NumberOf(call.node->Number(attribute, 0.0)) + ")");
  };
}

Row AlongAxis(const char* function) {
  return [function](const Call& call) {
    return function + ("(" + call.in[0] + ", dim=" + call.Axis("axis") + ")");
  };
}

// Max and Min, of which one may be a number.
Row Extreme(const char* of_tensors, const char* of_numbers) {
  return [of_tensors, of_numbers](const Call& call) {
    const Tensor& second = call.Input(1);
    if (second.kind == Tensor::Kind::kConstant && second.shape.empty()) {
      return call.in[0] + ".clamp(" + of_numbers + "=" + call.in[1] + ")";
    }
    return of_tensors + ("(" + Joined(call.in) + ")");
  };
}

std::string Functions(const Call& call) {
  static const std::map<std::string, std::string> names = {
      {"Tanh", "torch.tanh"}, {"Sigmoid", "torch.sigmoid"}, {"Relu", "torch.relu"}};
  Texts texts;
  const auto& list = std::get<Texts>(call.node->Find("activations")->value);
  for (const std::string& name : list) texts.push_back(names.at(name));
  return "(" + Joined(texts) + (texts.size() == 1 ? ",)" : ")");
}

Row Recurrence(const char* name, const char* helper) {
  return [name, helper](const Call& call) {
    call.helpers->insert(helper);
    std::string text = std::string(name) + "(" + call.in[0] + ", " + call.in[1] + ", " +
                       call.in[2] + ", " + call.In(3) + ", " + Functions(call) + ", ";
    if (call.node->op == "GRU") {
      text += call.node->Int("linear_before_reset", 0) != 0 ? "True, " : "False, ";
    }
    return text + (call.node->place == 0 ? "True)" : "False)");
  };
}

const std::map<std::string, Row>& Rows() {
  static const std::map<std::string, Row> rows = {
      {"Abs", Function("torch.abs")},
      {"Add", Infix("+")},
      {"And", Infix("&")},
      {"Atan", Function("torch.atan")},
      {"AveragePool", AveragePooling},
      {"BatchNormalization",
       [](const Call& call) {
         return "F.batch_norm(" + call.in[0] + ", " + call.in[3] + ", " + call.in[4] + ", " +
                call.in[1] + ", " + call.in[2] +
                ", eps=" + NumberOf(call.node->Number("epsilon", 0.0)) + ")";
       }},
      {"Cast",
       [](const Call& call) {
         const Type type = call.Output().type;
         return call.in[0] + (type == Type::kFloat  ? ".float()"
                              : type == Type::kBool ? ".bool()"
                                                    : ".long()");
       }},
      {"Celu", WithNumber("F.celu", "alpha")},
      {"Clip",
       [](const Call& call) {
         return call.in[0] + ".clamp(" + NumberOf(call.node->Number("min", 0.0)) + ", " +
                NumberOf(call.node->Number("max", 0.0)) + ")";
       }},
      {"Concat",
       [](const Call& call) {
         return "torch.cat((" + Joined(call.in) + "), " + call.Axis("axis") + ")";
       }},
      {"Conv", Convolution},
      {"ConvTranspose",
       [](const Call& call) {
         return "F.conv_transpose" + std::to_string(call.SpatialAxes()) + "d(" + Joined(call.in) +
                ", stride=" + Tuple(call.node->Ints("strides")) +
                ", dilation=" + Tuple(call.node->Ints("dilations")) + ")";
       }},
      {"Cos", Function("torch.cos")},
      {"CumSum", AlongAxis("torch.cumsum")},
      {"Div", Infix("/")},
      {"Einsum",
       [](const Call& call) {
         return "torch.einsum(" + Quoted(call.node->Text("equation")) + ", " + Joined(call.in) +
                ")";
       }},
      {"Elu", WithNumber("F.elu", "alpha")},
      {"Equal", Infix("==")},
      {"Erf", Function("torch.erf")},
      {"Exp", Function("torch.exp")},
      {"Expand", Expanding},
      {"Floor", Function("torch.floor")},
      {"GRU", Recurrence("gru", kGru)},
      {"Gather",
       [](const Call& call) {
         const int64_t axis = call.node->Int("axis", 0);
         if (axis == 0) return call.in[0] + "[" + call.in[1] + "]";
         return call.in[0] + ".index_select(" + std::to_string(axis) + ", " + call.in[1] + ")";
       }},
      {"Greater", Infix(">")},
      {"GreaterOrEqual", Infix(">=")},
      {"HardSigmoid",
       [](const Call& call) {
         return "(" + call.in[0] + " * " + NumberOf(call.node->Number("alpha", 0.0)) + " + " +
                NumberOf(call.node->Number("beta", 0.0)) + ").clamp(0.0, 1.0)";
       }},
      {"Identity", [](const Call& call) { return call.in[0]; }},
      {"LSTM", Recurrence("lstm", kLstm)},
      {"LayerNormalization",
       [](const Call& call) {
         const Shape& shape = call.Input(0).shape;
         const Shape sizes(shape.begin() + call.node->Int("axis", 1), shape.end());
         return "F.layer_norm(" + call.in[0] + ", " + Tuple(sizes) + ", " + call.in[1] + ", " +
                call.In(2) + ", eps=" + NumberOf(call.node->Number("epsilon", 0.0)) + ")";
       }},
      {"LeakyRelu", WithNumber("F.leaky_relu", "alpha")},
      {"Log", Function("torch.log")},
      {"LogSoftmax", AlongAxis("F.log_softmax")},
      {"MatMul", Infix("@")},
      {"Max", Extreme("torch.maximum", "min")},
      {"MaxPool", MaximumPooling},
      {"Min", Extreme("torch.minimum", "max")},
      {"Mod", Function("torch.fmod")},
      {"Mul", Infix("*")},
      {"Neg", [](const Call& call) { return "-" + call.in[0]; }},
      {"Not", [](const Call& call) { return "~" + call.in[0]; }},
      {"Or", Infix("|")},
      {"Pad",
       [](const Call& call) {
         return "F.pad(" + call.in[0] + ", " + Tuple(TorchPads(call.node->Ints("pads"))) + ")";
       }},
      {"Pow", Function("torch.pow")},
      {"RNN", Recurrence("rnn", kRnn)},
      {"ReduceMax", Reducing("amax")},
      {"ReduceMean", Reducing("mean")},
      {"ReduceMin", Reducing("amin")},
      {"ReduceSum", Reducing("sum")},
      {"Relu", Function("torch.relu")},
      {"Reshape",
       [](const Call& call) { return call.in[0] + ".reshape" + Tuple(call.node->Ints("shape")); }},
      {"Resize", Resizing},
      {"Round", Function("torch.round")},
      {"Selu", Function("F.selu")},
      {"Shrink",
       [](const Call& call) {
         const bool hard = call.node->Number("bias", 0.0) == 0.0;
         return std::string(hard ? "F.hardshrink(" : "F.softshrink(") + call.in[0] + ", " +
                NumberOf(call.node->Number("lambd", 0.0)) + ")";
       }},
      {"Sigmoid", Function("torch.sigmoid")},
      {"Sign", Function("torch.sign")},
      {"Sin", Function("torch.sin")},
      {"Slice", Slicing},
      {"Softmax", AlongAxis("torch.softmax")},
      {"Softplus", Function("F.softplus")},
      {"Sqrt", Function("torch.sqrt")},
      {"Sub", Infix("-")},
      {"Tanh", Function("torch.tanh")},
      {"TopK",
       [](const Call& call) {
         return "torch.sort(" + call.in[0] + ", dim=" + call.Axis("axis") +
                ", descending=True).values";
       }},
      {"Transpose",
       [](const Call& call) { return call.in[0] + ".permute" + Tuple(call.node->Ints("perm")); }},
      {"Where", Function("torch.where")},
  };
  return rows;
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
      const std::string expression = Rows().at(node->op)(call);
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
