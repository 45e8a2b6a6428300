#include "model/layers/batch_normalization/batch_normalization.h"

namespace hopper {
namespace layers {

BatchNormalization::BatchNormalization(LayerConfig& config)
    : Layer(config),
      axis(config.Ints("axis", 1, {-1})[0]),
      momentum(config.Number("momentum", 0.99)),
      epsilon(config.Number("epsilon", 1e-3)),
      center(config.Bool("center", true)),
      scale(config.Bool("scale", true)),
      beta_rules(config.GetRules("beta", "zeros")),
      gamma_rules(config.GetRules("gamma", "ones")),
      mean_rules{config.GetInitializer("moving_mean_initializer", "zeros"), {}, {}},
      variance_rules{config.GetInitializer("moving_variance_initializer", "ones"), {}, {}} {
  // Always the last one, as -1 or, from Keras 2, as its number.
  config.Forget("axis");
  config.Require("momentum", momentum, kShare);
  config.Require("epsilon", epsilon, kPositive);
  for (const char* key : {"renorm", "synchronized", "virtual_batch_size"}) {
    config.RequireUnset(key);
  }
  for (const char* key : {"fused", "renorm_clipping", "renorm_momentum"}) config.Ignore(key);
}

Shape BatchNormalization::OutputShape(const std::vector<Shape>& inputs) const {
  if (inputs.size() != 1 || inputs[0].empty()) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class BatchNormalization needs one input of " +
                    "rank 1 or more");
  }
  const int64_t last = static_cast<int64_t>(inputs[0].size());  // the batch is axis 0
  if (axis != -1 && axis != last) {
    throw Error(ErrorCode::kNotSupported,
                "layer \"" + name() + "\" of class BatchNormalization: axis " +
                    std::to_string(axis) + " is not supported",
                "", "Normalize the last axis (axis -1).");
  }
  return inputs[0];
}

std::vector<WeightSpec> BatchNormalization::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights;
  const auto add = [&](const char* name, const WeightRules& rules, bool trainable) {
    WeightSpec weight;
    weight.name = name;
    weight.shape = {inputs[0].back()};
    weight.Follow(rules);
    weight.trainable = trainable;
    weights.push_back(std::move(weight));
  };
  if (scale) add("gamma", gamma_rules, true);
  if (center) add("beta", beta_rules, true);
  add("moving_mean", mean_rules, false);
  add("moving_variance", variance_rules, false);
  return weights;
}

int64_t BatchNormalization::Flops(const std::vector<Shape>&, const Shape& output) const {
  return 2 * ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
