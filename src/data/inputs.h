// What a model is given of one example: one array, or several that have names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model_hopper/data.h"

namespace hopper {

struct DataInput {
  std::string name;  // of the architecture's input layer; a single input needs none
  std::vector<int64_t> shape;
  int32_t type = 0;  // hopper_type; 0: not known
};

// The inputs of packed data, at least one. Throws Error where they cannot be any.
std::vector<DataInput> InputsOf(const hopper_data_desc& desc);

}  // namespace hopper
