// What the loss of a configuration is compared by: losses of different kinds, arguments or weights
// are different numbers.
#pragma once

#include <string>
#include <vector>

#include "params/params.h"

namespace hopper {

// The loss of an output, or of a configuration.
struct ComparedLoss {
  std::string identity;  // equal where two are the same number
  std::string name;      // as the user wrote it
};

struct ComparedLosses {
  ComparedLoss total;
  std::string unweighted;  // total.identity as it would be without loss_weights
  std::string weights;     // "price 0.5, churn 1.0"; empty where all are 1
  // By metric: the loss of an output; of other metrics empty.
  std::vector<ComparedLoss> of_metrics;
};

// Of configurations that parse; NameAsShown() makes outputs known that the text does not name.
ComparedLosses CompareLosses(const CompileParams& compile);

}  // namespace hopper
