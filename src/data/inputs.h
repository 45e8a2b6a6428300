// What a model is given of one example: one array, or several that have names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/types.h"

namespace hopper {

struct DataInput {
  std::string name;  // of the architecture's input layer; a single input needs none
  std::vector<int64_t> shape;
  ValueType type = ValueType::kUnknown;
};

}  // namespace hopper
