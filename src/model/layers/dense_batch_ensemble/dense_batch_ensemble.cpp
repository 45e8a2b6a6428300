#include "model/layers/dense_batch_ensemble/dense_batch_ensemble.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

DenseBatchEnsemble::DenseBatchEnsemble(LayerConfig& config)
    : Layer(config),
      units(config.Int("units", 0)),
      members(config.Int("ensemble_size", 4)),
      activation(config.GetActivation("activation")),
      use_alpha(config.Bool("use_alpha", true)),
      use_gamma(config.Bool("use_gamma", true)),
      use_bias(config.Bool("use_bias", true)),
      ensemble_bias(config.Bool("use_ensemble_bias", true)),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      alpha_rules(config.GetRules("alpha", "ones")),
      gamma_rules(config.GetRules("gamma", "ones")),
      bias_rules(config.GetRules("bias", "zeros")) {
  config.RequireGivenCount("units", &units);
  config.RequireCount("ensemble_size", &members);
}

Shape DenseBatchEnsemble::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const size_t rank = inputs[0].size();
  if (rank != 1 && (rank != 2 || inputs[0][0] != members)) {
    ThrowUnfit(*this, "its input needs rank 1, or rank 2 with the " + std::to_string(members) +
                          " members first");
  }
  return {members, units};
}

std::vector<WeightSpec> DenseBatchEnsemble::Weights(const std::vector<Shape>& inputs) const {
  const int64_t length = inputs[0].back();
  std::vector<WeightSpec> weights;
  const auto add = [&](const char* name, const Shape& shape, const WeightRules& rules) {
    weights.emplace_back();
    weights.back().name = name;
    weights.back().shape = shape;
    weights.back().Follow(rules);
  };
  add("kernel", {length, units}, kernel_rules);
  if (use_alpha) add("alpha", {members, length}, alpha_rules);
  if (use_gamma) add("gamma", {members, units}, gamma_rules);
  if (use_bias) add("bias", ensemble_bias ? Shape{members, units} : Shape{units}, bias_rules);
  return weights;
}

int64_t DenseBatchEnsemble::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const int64_t length = inputs[0].back();
  const int64_t of_outputs =
      ElementCount({ElementCount(output), 2 * length + (use_gamma ? 1 : 0) + (use_bias ? 1 : 0)});
  return of_outputs + (use_alpha ? ElementCount({members, length}) : 0);
}

int64_t DenseBatchEnsemble::AutogradFloats(const std::vector<Shape>& inputs,
                                           const Shape& output) const {
  return ElementCount({members, inputs[0].back()}) + 3 * ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
