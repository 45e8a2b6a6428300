// The architecture of an ensemble: a functional model of its members, whose outputs it adds up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/inputs.h"

namespace hopper {

struct EnsembleMember {
  std::string_view architecture;  // Keras JSON
  int64_t key = 0;                // its layer is "member_<key>"
  double share = 1.0;             // of the sum
};

// Keras JSON (Keras 2's form) of a model that gives each member the inputs and returns the sum of
// the outputs times their shares. Its weights are the members', one behind the other. Throws
// kInvalidParameter where a member is no JSON of a model.
std::string EnsembleJson(const std::vector<EnsembleMember>& members,
                         const std::vector<DataInput>& inputs);

}  // namespace hopper
