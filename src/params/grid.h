// Lists of configurations: the cross product of given texts, and grid or random search over
// dictionaries of alternatives (MADlib's generate_model_configs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace hopper {

struct Configuration {
  int32_t model_id = 0;
  std::string compile_params;
  std::string fit_params;
};

struct GridRequest {
  std::vector<int32_t> model_ids;
  std::string compile_grid;  // Python dictionary text whose values are lists
  std::string fit_grid;
  bool random = false;
  int64_t num_configs = 0;              // random only
  std::optional<int64_t> random_state;  // random only; absent: 0
  int64_t max_configs = 0;
  std::vector<Configuration> existing;  // never produced again
};

// Throws Error: text that does not parse (with position), wrong list forms, a range upside down,
// a log scale with zero, more than max_configs combinations, fewer distinct configurations than
// num_configs asks for. `notice` (may be null) gets how the grid was understood where it could be
// otherwise.
std::vector<Configuration> GenerateConfigs(const GridRequest& request, Problem* notice = nullptr);

std::vector<Configuration> CrossConfigs(const std::vector<int32_t>& model_ids,
                                        const std::vector<std::string>& compile_params,
                                        const std::vector<std::string>& fit_params);

}  // namespace hopper
