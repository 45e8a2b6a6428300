#include "model/layers/weight_rules.h"

namespace hopper {

WeightRules ReadRules(LayerConfig& config, const std::string& weight, const char* initializer) {
  WeightRules rules;
  rules.initializer = config.GetInitializer(weight + "_initializer", initializer);
  rules.regularizer = config.GetRegularizer(weight + "_regularizer");
  config.RequireUnset(weight + "_constraint");
  return rules;
}

}  // namespace hopper
