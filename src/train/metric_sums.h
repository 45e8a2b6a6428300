// What a visit or an evaluation adds up.
#pragma once

#include <cstdint>
#include <vector>

namespace hopper {

// Sums over examples, in float64.
struct MetricSums {
  double loss = 0.0;            // without regularization
  std::vector<double> metrics;  // the sums of each metric, one behind the other
  int64_t examples = 0;

  void Add(const MetricSums& other);
};

}  // namespace hopper
