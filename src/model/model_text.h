// Architectures in the store of what a process has read (params/readings.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/inputs.h"
#include "params/readings.h"

namespace hopper {

// All that a model is made of, as one text: the JSON, the data (null: none) and the layer where it
// ends (null: where it says).
std::string TextOfModel(std::string_view json, const std::vector<DataInput>* data,
                        const std::string* layer);
// Bytes, about.
int64_t SizeOfModel(const ModelReading& reading);

}  // namespace hopper
