// Architectures around others: of an ensemble, a functional model of its members, whose outputs it
// adds up; and of a model whose probabilities get a temperature.
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
                         const std::vector<DataInput>& data);

// Likewise of a model that gives the outputs of `model` a temperature. Its weights are the model's.
std::string CalibratedJson(std::string_view model, const std::vector<DataInput>& data,
                           double temperature);

}  // namespace hopper
