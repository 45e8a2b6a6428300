#include "model/layers/einsum_dense/einsum_dense.h"

#include <algorithm>
#include <map>

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

constexpr const char* kDenseDots = "...";
constexpr const char* kHint =
    "Write equations as \"abc,cd->abd\", \"...x,xy->...y\" or \"ab...,bc->ac...\", in which the "
    "first axis is the batch.";

bool HasLetter(const std::string& letters, char letter) {
  return letters.find(letter) != letters.npos;
}

bool StartsWith(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

EinsumDense::EinsumDense(LayerConfig& config)
    : Layer(config),
      equation(config.String("equation", "")),
      output_shape(config.OpenInts("output_shape")),
      bias_axes(config.String("bias_axes", "")),
      activation(config.GetActivation("activation")),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      bias_rules(config.GetRules("bias", "zeros")),
      fans_of_axes(config.family() == KerasFamily::kKeras3) {
  for (const char* key : {"equation", "output_shape"}) {
    if (!config.Has(key)) config.Missing(key);
  }
  for (const char* key : {"lora_rank", "quantization_config", "gptq_unpacked_column_size"}) {
    config.RequireUnset(key);
  }
  config.Ignore("lora_alpha");
  if (equation.empty()) return;
  std::vector<std::string> terms;
  const bool read = Equation::Read(equation, &terms, &output_) && terms.size() == 2 &&
                    equation.find("->") != equation.npos;
  if (read) {
    input_ = terms[0];
    kernel_ = terms[1];
    if (StartsWith(input_, kDenseDots) && StartsWith(output_, kDenseDots)) {
      dots_ = Dots::kBefore;
      input_.erase(0, 3);
      output_.erase(0, 3);
    } else if (EndsWith(input_, kDenseDots) && EndsWith(output_, kDenseDots)) {
      dots_ = Dots::kBehind;
      input_.erase(input_.size() - 3);
      output_.erase(output_.size() - 3);
    }
  }
  const auto plain = [](const std::string& term) { return !term.empty() && !HasLetter(term, '.'); };
  if (!read || !plain(input_) || !plain(kernel_) || !plain(output_)) {
    config.Fail(ErrorCode::kNotSupported, "equation \"" + equation + "\" is not supported", kHint);
    return;
  }
  const auto known = [](const std::string& term, const std::string& a, const std::string& b) {
    return std::all_of(term.begin(), term.end(),
                       [&](char letter) { return HasLetter(a, letter) || HasLetter(b, letter); });
  };
  if (!known(output_, input_, kernel_) || !known(kernel_, input_, output_)) {
    config.Fail(ErrorCode::kInvalidParameter,
                "equation \"" + equation +
                    "\" has a letter behind \"->\" or of the kernel that is "
                    "in no other term");
    return;
  }
  for (const char letter : bias_axes) {
    if (HasLetter(output_, letter)) continue;
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"bias_axes\" must be letters behind "
                "\"->\" in \"" +
                    equation + "\", not \"" + bias_axes + "\"");
    bias_axes.clear();
    break;
  }
}

EinsumDense::Form EinsumDense::Of(const Shape& input) const {
  const auto rank = input.size() + 1;  // with the batch
  if (input_.size() > rank || (dots_ == Dots::kNone && input_.size() < rank)) {
    ThrowUnfit(*this,
               "equation \"" + equation + "\" does not fit an input of shape " + ShapeText(input));
  }
  const size_t elided = rank - input_.size();
  const size_t before = dots_ == Dots::kBefore ? elided : 0;  // axes before the first letter's
  const auto unfit = [&] {
    ThrowUnfit(*this, "argument \"output_shape\" does not fit equation \"" + equation +
                          "\" and an input of shape " + ShapeText(input));
  };
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < input_.size(); ++i) {
    if (before + i > 0) sizes[input_[i]] = input[before + i - 1];
  }
  // The batch, where it has a letter, is not in the output's shape.
  const size_t first = before > 0 ? 0 : 1;
  if (output_shape.size() + first != output_.size()) unfit();
  for (size_t i = 0; i < output_shape.size(); ++i) {
    const int64_t size = output_shape[i];
    if (size < 0) continue;
    const auto [known, is_new] = sizes.try_emplace(output_[first + i], size);
    if (!is_new && known->second != size) unfit();
  }
  Form form;
  for (const char letter : kernel_) {
    const auto size = sizes.find(letter);
    if (size == sizes.end()) {
      // The batch, or an axis whose size nobody says.
      ThrowUnfit(*this,
                 "equation \"" + equation + "\" leaves the size of axis \"" + letter +
                     "\" of the kernel open",
                 kHint);
    }
    (HasLetter(output_, letter) ? form.outputs : form.inputs) *= static_cast<double>(size->second);
    form.kernel.push_back(size->second);
  }
  if (bias_axes.empty()) return form;
  // From the first of its axes on, with size 1 where it has none.
  const size_t start = output_.find_first_of(bias_axes);
  for (size_t i = start; i < output_.size(); ++i) {
    const auto size = sizes.find(output_[i]);
    if (HasLetter(bias_axes, output_[i]) && size == sizes.end()) {
      ThrowUnfit(*this, std::string("argument \"bias_axes\" names the batch, or an axis whose size "
                                    "nobody says: \"") +
                            output_[i] + "\"");
    }
    form.bias.push_back(HasLetter(bias_axes, output_[i]) ? size->second : 1);
  }
  if (dots_ != Dots::kBefore) form.bias.insert(form.bias.end(), elided, 1);
  return form;
}

// The axes that the kernel sums over may be any of its own. So all of them count as such, and the
// scale makes up for it.
void EinsumDense::CountFans(const Form& form, WeightSpec* kernel) {
  InitializerSpec& initializer = kernel->initializer;
  if (initializer.kind != InitializerKind::kVarianceScaling) return;
  double fan = (form.inputs + form.outputs) / 2.0;
  if (initializer.fan_mode == InitializerSpec::FanMode::kIn) fan = form.inputs;
  if (initializer.fan_mode == InitializerSpec::FanMode::kOut) fan = form.outputs;
  initializer.fan_mode = InitializerSpec::FanMode::kIn;
  initializer.a *= form.inputs * form.outputs / fan;
  kernel->fan_inputs = form.kernel.size();
}

Equation EinsumDense::EquationOf(const Shape& input) const {
  return Equation(*this, equation, {input, Of(input).kernel}, {0, 1});
}

Shape EinsumDense::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const Shape output = EquationOf(inputs[0]).shape();
  if (output.empty() && !ActsByElement(activation)) {
    ThrowUnfit(*this, "its activation needs an axis, and its output has none");
  }
  return output;
}

std::vector<WeightSpec> EinsumDense::Weights(const std::vector<Shape>& inputs) const {
  const Form form = Of(inputs[0]);
  std::vector<WeightSpec> weights(form.bias.empty() ? 1 : 2);
  weights[0].name = "kernel";
  weights[0].shape = form.kernel;
  weights[0].Follow(kernel_rules);
  if (fans_of_axes) CountFans(form, &weights[0]);
  if (!form.bias.empty()) {
    weights[1].name = "bias";
    weights[1].shape = form.bias;
    weights[1].Follow(bias_rules);
  }
  return weights;
}

int64_t EinsumDense::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const int64_t flops = EquationOf(inputs[0]).flops();
  return bias_axes.empty() ? flops : SaturatingAdd(flops, ElementCount(output));
}

// Input and kernel with their axes in other orders, and the sum before the activation.
int64_t EinsumDense::AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const {
  return SaturatingAdd(Product({2, ElementCount(inputs[0])}), Product({3, ElementCount(output)}));
}

}  // namespace layers
}  // namespace hopper
