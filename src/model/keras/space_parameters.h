// Architectures in which a search fills something in: {"hopper": "units"} in the place of a value.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/error.h"

namespace hopper {

// Whether there are such places: then they are named in a problem. Such a document is no model yet.
bool RefuseSpaceParameters(const nlohmann::json& document, std::vector<Problem>* problems);

}  // namespace hopper
