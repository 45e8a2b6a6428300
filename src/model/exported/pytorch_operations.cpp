// A row of Rows() for each operation.
#include "model/exported/pytorch_operations.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

namespace hopper::pytorch {

using ops::Tensor;
using ops::Type;

std::string NumberOf(double number) {
  if (std::isinf(number)) return number < 0 ? "-math.inf" : "math.inf";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", number);
  const std::string written = text;
  return written.find_first_of(".en") == std::string::npos ? written + ".0" : written;
}

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

namespace {

// "(a, b)", "(a,)"
std::string TupleOf(const Texts& texts) {
  return "(" + Joined(texts) + (texts.size() == 1 ? ",)" : ")");
}

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
  const auto numbers = [&](const char* key, size_t place) {
    return NumberOf(std::get<std::vector<double>>(call.node->Find(key)->value)[place]);
  };
  Texts texts;
  size_t with_numbers = 0;  // of those before, which take the first ones
  for (const std::string& name : std::get<Texts>(call.node->Find("activations")->value)) {
    if (name == "HardSigmoid") {
      texts.push_back("lambda x: (x * " + numbers("activation_alpha", with_numbers) + " + " +
                      numbers("activation_beta", with_numbers) + ").clamp(0.0, 1.0)");
      ++with_numbers;
    } else {
      texts.push_back(names.at(name));
    }
  }
  return TupleOf(texts);
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
         return "torch.cat(" + TupleOf(call.in) + ", " + call.Axis("axis") + ")";
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
      {"ReduceProd",
       [](const Call& call) {
         return "torch.prod(" + call.in[0] + ", " + std::to_string(call.node->Ints("axes")[0]) +
                (call.node->Int("keepdims", 0) != 0 ? ", keepdim=True)" : ")");
       }},
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

}  // namespace

std::string Expression(const Call& call) { return Rows().at(call.node->op)(call); }

}  // namespace hopper::pytorch
