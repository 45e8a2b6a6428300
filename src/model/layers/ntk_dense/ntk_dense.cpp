#include "model/layers/ntk_dense/ntk_dense.h"

#include <cmath>

#include "base/philox.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

// Whether the argument names the only way that there is.
bool NamesOnly(LayerConfig* config, const char* key, const char* only) {
  const std::string value = config->String(key, "");
  if (!value.empty() && value != only) {
    config->Fail(ErrorCode::kInvalidParameter,
                 std::string("argument \"") + key + "\" is \"" + value + "\"",
                 std::string("It may be null or \"") + only + "\".");
  }
  return !value.empty();
}

}  // namespace

NTKDense::NTKDense(LayerConfig& config)
    : Layer(config),
      units(config.Int("units", 0)),
      use_bias(config.Bool("use_bias", true)),
      activation(config.GetActivation("activation")),
      kernel_rules(config.GetRules("kernel", "random_normal")),
      bias_rules(config.GetRules("bias", "zeros")),
      std_kernel(NamesOnly(&config, "kernel_data_init", "std")),
      he_bias(NamesOnly(&config, "bias_data_init", "he+5")) {
  config.RequireGivenCount("units", &units);
  // Keras' random_normal has a deviation of 0.05.
  if (!config.Has("kernel_initializer")) {
    kernel_rules.initializer.kind = InitializerKind::kRandomNormal;
    kernel_rules.initializer.a = 0.0;
    kernel_rules.initializer.b = 1.0;
  }
  if (he_bias && !use_bias) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"bias_data_init\" needs a bias");
  }
}

float NTKDense::Gain(int64_t inputs) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(inputs)));
}

Shape NTKDense::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].empty()) ThrowUnfit(*this, "its input needs rank 1 or more");
  Shape output = inputs[0];
  output.back() = units;
  return output;
}

std::vector<WeightSpec> NTKDense::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(use_bias ? 2 : 1);
  weights[0].name = "kernel";
  weights[0].shape = {inputs[0].back(), units};
  weights[0].Follow(kernel_rules);
  if (use_bias) {
    weights[1].name = "bias";
    weights[1].shape = {units};
    weights[1].Follow(bias_rules);
  }
  if (!initializes()) return weights;
  weights.emplace_back();
  weights.back().name = "initialized";
  weights.back().shape = {1};
  weights.back().trainable = false;
  return weights;
}

int64_t NTKDense::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return ElementCount({ElementCount(output), 2 * inputs[0].back() + (use_bias ? 1 : 0)});
}

int64_t NTKDense::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount(output);
}

RandomMeans DrawMeans(uint32_t stream, int64_t rows, int64_t units) {
  const Philox philox(/*seed=*/0, Purpose::kInitialize, stream, /*step=*/1);
  RandomMeans means;
  const auto n = static_cast<uint64_t>(units * RandomMeans::kRows);
  for (uint64_t i = 0; i < n; ++i) {
    means.shares.push_back(-std::log(philox.UniformDouble(i)));
    means.rows.push_back(static_cast<int64_t>(philox.Below(n + i, static_cast<uint64_t>(rows))));
  }
  for (size_t unit = 0; unit < static_cast<size_t>(units); ++unit) {
    double sum = 0.0;
    double* shares = means.shares.data() + unit * RandomMeans::kRows;
    for (int i = 0; i < RandomMeans::kRows; ++i) sum += shares[i];
    for (int i = 0; i < RandomMeans::kRows; ++i) shares[i] /= sum;
  }
  return means;
}

}  // namespace layers
}  // namespace hopper
