#include <algorithm>
#include <string>

#include "model/exported/export_layer.h"
#include "model/layers/recurrent/recurrent.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

using Cell = Recurrent::Cell;

constexpr int64_t kMostSteps = 500;  // written out one by one

// The functions of one of ONNX's recurrent operations.
struct Functions {
  std::vector<std::string> names;  // empty where it has no such function
  // Numbers of those that have some, HardSigmoid(x) = clip(alpha x + beta, 0, 1).
  std::vector<double> alpha, beta;

  void Add(const ActivationSpec& activation, const std::string& name) {
    names.push_back(name);
    if (name != "HardSigmoid") return;
    alpha.push_back(TypeOf(activation.kind).keras_2 ? 0.2 : 1.0 / 6.0);
    beta.push_back(0.5);
  }
};

// "" where ONNX's recurrent operations have no such function.
std::string FunctionName(const ActivationSpec& activation) {
  const std::string& name = TypeOf(activation.kind).names[0];
  if (name == "tanh") return "Tanh";
  if (name == "sigmoid") return "Sigmoid";
  if (name == "hard_sigmoid") return "HardSigmoid";
  const bool plain =
      activation.alpha == 0.0 && activation.threshold == 0.0 && activation.max_value < 0.0;
  return name == "relu" && plain ? "Relu" : "";
}

Functions FunctionsOf(const Recurrent& layer) {
  std::vector<ActivationSpec> activations;
  if (layer.cell != Cell::kSimple) activations.push_back(layer.recurrent_activation);
  activations.push_back(layer.activation);
  if (layer.cell == Cell::kLstm) activations.push_back(layer.activation);
  Functions functions;
  for (const ActivationSpec& activation : activations) {
    const std::string name = FunctionName(activation);
    if (name.empty()) return {};
    functions.Add(activation, name);
  }
  return functions;
}

// Blocks of columns as ONNX orders gates: [1, gates * units, rows].
Value Blocks(const Value& kernel, const std::vector<int64_t>& order, int64_t units) {
  std::vector<Value> blocks;
  for (const int64_t gate : order) blocks.push_back(narrow(kernel, -1, gate * units, units));
  const Value all = blocks.size() == 1 ? kernel : cat(blocks, -1);
  if (kernel.dim() == 1) return all;
  return reshape(permute(all, {1, 0}), {1, kernel.size(1), kernel.size(0)});
}

// ONNX's own operation.
Value Whole(const Recurrent& layer, const Value& x, const Value* weights,
            const Functions& functions) {
  ops::Graph* graph = x.graph();
  const int64_t units = layer.units;
  const int64_t columns = layer.gates() * units;
  std::vector<int64_t> order{0};
  if (layer.cell == Cell::kLstm) order = {0, 3, 1, 2};  // i, o, f, c of i, f, c, o
  if (layer.cell == Cell::kGru) order = {0, 1, 2};
  std::vector<Value> inputs{permute(x, {1, 0, 2}), Blocks(weights[0], order, units),
                            Blocks(weights[1], order, units)};
  if (layer.use_bias && layer.reset_after) {
    inputs.push_back(reshape(weights[2], {1, 2 * columns}));
  } else if (layer.use_bias) {
    const Value none = graph->Constant(std::vector<float>(static_cast<size_t>(columns)), {columns});
    inputs.push_back(
        reshape(ops::cat({Blocks(weights[2], order, units), none}, 0), {1, 2 * columns}));
  }
  std::vector<ops::Attribute> attributes{{"hidden_size", units}, {"activations", functions.names}};
  if (!functions.alpha.empty()) {
    attributes.push_back({"activation_alpha", functions.alpha});
    attributes.push_back({"activation_beta", functions.beta});
  }
  const char* op = layer.cell == Cell::kLstm ? "LSTM" : layer.cell == Cell::kGru ? "GRU" : "RNN";
  if (layer.cell == Cell::kGru) {
    attributes.push_back({"linear_before_reset", int64_t{layer.reset_after ? 1 : 0}});
  }
  if (!layer.return_sequences) {
    const Value last = graph->Emit(op, inputs, attributes, {1, -1, units}, ops::Type::kFloat, 1);
    return reshape(last, {-1, units});
  }
  // [steps, 1, batch, units]
  const Value all = graph->Emit(op, inputs, attributes, {x.size(1), 1, -1, units});
  return reshape(permute(all, {2, 0, 1, 3}), {-1, x.size(1), units});
}

// Step by step: what masks and other activations need. A state that is not defined is 0.
class Steps {
 public:
  Steps(const Recurrent& layer, const Value& x, const Value* weights)
      : layer_(layer), recurrent_(weights[1]), units_(layer.units), steps_(x.size(1)) {
    sums_ = matmul(x, weights[0]);
    if (!layer.use_bias) return;
    const int64_t columns = layer.gates() * units_;
    if (layer.reset_after) {
      sums_ = add(sums_, reshape(narrow(weights[2], 0, 0, 1), {columns}));
      state_bias_ = reshape(narrow(weights[2], 0, 1, 1), {columns});
    } else {
      sums_ = add(sums_, weights[2]);
    }
  }

  Value Run(const Value& mask) {
    Value h, c, last;
    std::vector<Value> outputs;
    for (int64_t t = 0; t < steps_; ++t) {
      const Value before = h;
      const Value before_c = c;
      Step(reshape(narrow(sums_, 1, t, 1), {-1, sums_.size(2)}), &h, &c);
      last = h;
      if (mask.defined()) {
        const Value counts = narrow(mask, 1, t, 1);
        if (layer_.zero_output_for_mask) last = where(counts, h, 0.0);
        h = Kept(counts, h, before);
        if (layer_.cell == Cell::kLstm) c = Kept(counts, c, before_c);
        if (!layer_.zero_output_for_mask) last = h;
      }
      if (layer_.return_sequences) outputs.push_back(reshape(last, {-1, 1, units_}));
    }
    return layer_.return_sequences ? cat(outputs, 1) : last;
  }

 private:
  static Value Kept(const Value& counts, const Value& now, const Value& before) {
    return before.defined() ? where(counts, now, before) : where(counts, now, 0.0);
  }
  static Value Sum(const Value& a, const Value& b) { return b.defined() ? add(a, b) : a; }
  Value Part(const Value& x, int64_t gate) const { return narrow(x, -1, gate * units_, units_); }

  // state * recurrent_kernel of gates `first` to `last`.
  Value OfState(const Value& h, int64_t first, int64_t last) const {
    if (!h.defined()) return {};
    return matmul(h, narrow(recurrent_, 1, first * units_, (last - first) * units_));
  }

  void Step(const Value& x, Value* h, Value* c) const {
    const ActivationSpec& gate = layer_.recurrent_activation;
    if (layer_.cell == Cell::kSimple) {
      *h = Activate(Sum(x, OfState(*h, 0, 1)), layer_.activation);
    } else if (layer_.cell == Cell::kLstm) {
      const Value z = Sum(x, OfState(*h, 0, 4));
      const Value in = mul(Activate(Part(z, 0), gate), Activate(Part(z, 2), layer_.activation));
      *c = c->defined() ? add(mul(Activate(Part(z, 1), gate), *c), in) : in;
      *h = mul(Activate(Part(z, 3), gate), Activate(*c, layer_.activation));
    } else {
      GruStep(x, h);
    }
  }

  void GruStep(const Value& x, Value* h) const {
    const ActivationSpec& gate = layer_.recurrent_activation;
    Value z, candidate;
    if (layer_.reset_after) {
      Value inner = OfState(*h, 0, 3);
      if (state_bias_.defined()) inner = inner.defined() ? add(inner, state_bias_) : state_bias_;
      const auto of_h = [&](int64_t g) { return inner.defined() ? Part(inner, g) : Value(); };
      z = Activate(Sum(Part(x, 0), of_h(0)), gate);
      const Value r = Activate(Sum(Part(x, 1), of_h(1)), gate);
      if (inner.defined()) candidate = mul(r, of_h(2));
    } else {
      const Value inner = OfState(*h, 0, 2);
      const auto of_h = [&](int64_t g) { return inner.defined() ? Part(inner, g) : Value(); };
      z = Activate(Sum(Part(x, 0), of_h(0)), gate);
      const Value r = Activate(Sum(Part(x, 1), of_h(1)), gate);
      if (h->defined()) candidate = OfState(mul(r, *h), 2, 3);
    }
    const Value made = mul(rsub(z, 1.0), Activate(Sum(Part(x, 2), candidate), layer_.activation));
    *h = h->defined() ? add(mul(z, *h), made) : made;
  }

  const Recurrent& layer_;
  const Value recurrent_;
  const int64_t units_;
  const int64_t steps_;
  Value sums_;        // [batch, time, gates * units]
  Value state_bias_;  // of a GRU with reset_after
};

Value Pass(const Layer& shown, const Recurrent& layer, const Value& input, const Value* weights,
           Value mask) {
  Value x = input;
  if (layer.go_backwards) {
    x = flip(x, 1);
    if (mask.defined()) mask = flip(mask, 1);
  }
  const Functions functions = FunctionsOf(layer);
  const bool named = !functions.names.empty();
  if (!mask.defined() && named) return Whole(layer, x, weights, functions);
  if (x.size(1) > kMostSteps) {
    RefuseExport(shown,
                 "has no export for " + std::to_string(x.size(1)) + " steps with " +
                     (named ? "a mask" : "this activation"),
                 "At most " + std::to_string(kMostSteps) + " steps are written out one by one.");
  }
  return Steps(layer, x, weights).Run(mask);
}

}  // namespace

Value Export(const Recurrent& layer, const ExportCall& call) {
  return Pass(layer, layer, call.x(), call.weights.data(), call.MaskOf());
}

Value Export(const Bidirectional& layer, const ExportCall& call) {
  const Recurrent& first = layer.forward();
  const Value mask = call.MaskOf();
  const Value* weights = call.weights.data();
  const Value a = Pass(layer, first, call.x(), weights, mask);
  Value b = Pass(layer, layer.backward(), call.x(), weights + (first.use_bias ? 3 : 2), mask);
  if (layer.backward().return_sequences) b = flip(b, 1);
  switch (layer.merge) {
    case Bidirectional::Merge::kSum:
      return add(a, b);
    case Bidirectional::Merge::kMultiply:
      return mul(a, b);
    case Bidirectional::Merge::kAverage:
      return div(add(a, b), 2.0);
    default:
      return ops::cat({a, b}, -1);
  }
}

}  // namespace layers
}  // namespace hopper
