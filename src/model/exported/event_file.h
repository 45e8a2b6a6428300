// A trial's learning curves and parameters as an event file, which TensorBoard reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hopper {

struct TrialEvents {
  struct Scalar {
    std::string tag;
    int64_t step = 0;
    double time = 0;  // seconds since 1970
    double value = 0;
  };

  std::vector<Scalar> scalars;
  std::vector<std::pair<std::string, std::string>> parameters;
  double began = 0;
  bool failed = false;
};

std::string EventFile(const TrialEvents& trial);

}  // namespace hopper
