// What a file says of a weight.
#pragma once

#include "model/layer.h"

namespace hopper {

struct WeightRules {
  InitializerSpec initializer;
  RegularizerSpec regularizer;

  void Rule(WeightSpec* weight) const {
    weight->initializer = initializer;
    weight->regularizer = regularizer;
  }
};

// From "<weight>_initializer" and "<weight>_regularizer"; there is no "<weight>_constraint".
WeightRules ReadRules(LayerConfig& config, const std::string& weight, const char* initializer);

}  // namespace hopper
