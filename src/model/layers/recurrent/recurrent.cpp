#include "model/layers/recurrent/recurrent.h"

#include "base/product.h"
#include "model/layers/window.h"

namespace hopper {
namespace layers {

Recurrent::Recurrent(LayerConfig& config, Cell the_cell)
    : Layer(config),
      cell(the_cell),
      units(config.Int("units", 0)),
      activation(config.GetActivation("activation", "tanh")),
      use_bias(config.Bool("use_bias", true)),
      unit_forget_bias(cell == Cell::kLstm && config.Bool("unit_forget_bias", true)),
      reset_after(cell == Cell::kGru &&
                  config.Bool("reset_after", config.family() == KerasFamily::kKeras3)),
      return_sequences(config.Bool("return_sequences", false)),
      go_backwards(config.Bool("go_backwards", false)),
      zero_output_for_mask(config.Bool("zero_output_for_mask", false)),
      dropout(config.Number("dropout", 0.0, kShare)),
      recurrent_dropout(config.Number("recurrent_dropout", 0.0, kShare)),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      recurrent_rules(config.GetRules("recurrent", "orthogonal")),
      bias_rules(config.GetRules("bias", "zeros")) {
  if (cell != Cell::kSimple) {
    recurrent_activation = config.GetActivation("recurrent_activation", "sigmoid");
  }
  config.RequireGivenCount("units", &units);
  together = config.Int("implementation", 2) != 1 && recurrent_dropout == 0.0;
  for (const char* key : {"return_state", "stateful", "time_major"}) {
    config.RequireUnset(key);
  }
  config.Ignore("unroll");  // how Keras computes it
  config.Ignore("seed");    // the configuration's seed decides
}

Shape Recurrent::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  return return_sequences ? Shape{inputs[0][0], units} : Shape{units};
}

std::vector<WeightSpec> Recurrent::Weights(const std::vector<Shape>& inputs) const {
  const int64_t columns = gates() * units;
  std::vector<WeightSpec> weights(use_bias ? 3 : 2);
  weights[0].name = "kernel";
  weights[0].shape = {inputs[0][1], columns};
  weights[0].Follow(kernel_rules);
  weights[1].name = "recurrent_kernel";
  weights[1].shape = {units, columns};
  weights[1].Follow(recurrent_rules);
  if (!use_bias) return weights;
  weights[2].name = "bias";
  weights[2].shape = reset_after ? Shape{2, columns} : Shape{columns};
  weights[2].Follow(bias_rules);
  if (unit_forget_bias) {
    weights[2].ones_from = units;
    weights[2].ones_to = 2 * units;
  }
  return weights;
}

int64_t Recurrent::Flops(const std::vector<Shape>& inputs, const Shape&) const {
  const int64_t products = Product({2, gates(), units, inputs[0][1] + units});
  return Product({inputs[0][0], SaturatingAdd(products, 10 * units)});
}

int64_t Recurrent::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  // Of each step: sums, gates and states, about as often as autograd's operators keep them.
  return Product({inputs[0][0], (4 * gates() + 6) * units + inputs[0][1] * gates()});
}

Bidirectional::Bidirectional(LayerConfig& config) : Layer(config) {
  const std::string mode = config.String("merge_mode", "concat");
  if (mode == "sum") {
    merge = Merge::kSum;
  } else if (mode == "mul") {
    merge = Merge::kMultiply;
  } else if (mode == "ave") {
    merge = Merge::kAverage;
  } else if (mode != "concat") {
    config.Fail(ErrorCode::kNotSupported, "merge_mode \"" + mode + "\" is not supported",
                "Use \"concat\", \"sum\", \"mul\" or \"ave\".");
  }
  if (config.IsNull("merge_mode")) {
    config.Fail(ErrorCode::kNotSupported,
                "merge_mode null, which has two outputs, is not supported", "Use \"concat\".");
  }
  forward_ = config.GetLayer("layer");
  const bool stated = config.Has("backward_layer");
  backward_ = config.GetLayer(stated ? "backward_layer" : "layer");
  if (forward_ == nullptr || backward_ == nullptr) return;
  auto* first = dynamic_cast<Recurrent*>(forward_.get());
  auto* second = dynamic_cast<Recurrent*>(backward_.get());
  if (first == nullptr || second == nullptr) {
    const std::string& other = (first == nullptr ? forward_ : backward_)->class_name();
    config.Fail(ErrorCode::kNotSupported,
                "a layer of class " + other + " in both directions is not supported",
                "Use LSTM, GRU or SimpleRNN.");
    return;
  }
  if (!stated) second->go_backwards = !first->go_backwards;
  if (first->go_backwards == second->go_backwards ||
      first->return_sequences != second->return_sequences) {
    config.Fail(ErrorCode::kInvalidParameter,
                "its two layers must differ in go_backwards and agree in return_sequences");
  }
  if (merge != Merge::kConcatenate && first->units != second->units) {
    config.Fail(ErrorCode::kInvalidParameter,
                "its two layers must have as many units as each other, not " +
                    std::to_string(first->units) + " and " + std::to_string(second->units));
  }
  for (Recurrent* layer : {first, second}) layer->zero_output_for_mask = layer->return_sequences;
}

Shape Bidirectional::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  Shape output = forward().OutputShape(inputs);
  if (merge == Merge::kConcatenate) output.back() += backward().units;
  return output;
}

std::vector<WeightSpec> Bidirectional::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights;
  for (const Recurrent* layer : {&forward(), &backward()}) {
    for (WeightSpec& weight : layer->Weights(inputs)) {
      weight.name = (layer == &forward() ? "forward/" : "backward/") + weight.name;
      weight.trainable = layer->trainable();
      weights.push_back(std::move(weight));
    }
  }
  return weights;
}

int64_t Bidirectional::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return SaturatingAdd(
      SaturatingAdd(forward().Flops(inputs, output), backward().Flops(inputs, output)),
      ElementCount(output));
}

int64_t Bidirectional::AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const {
  return SaturatingAdd(SaturatingAdd(forward().AutogradFloats(inputs, output),
                                     backward().AutogradFloats(inputs, output)),
                       Product({3, ElementCount(output)}));
}

}  // namespace layers
}  // namespace hopper
