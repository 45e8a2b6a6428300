// Structs of the C boundary that both libraries are given, made the core's own types: one place for
// each. Structs that libhopper_torch.so alone has are torch_api_structs.h's.
#pragma once

#include <optional>

#include "data/dataset.h"
#include "model/config_source.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"

namespace hopper {

// Throws where inputs and labels of an example cannot lie as it says; what else is wrong
// DataDesc::Check() says.
DataDesc FromC(const hopper_data_desc& desc);
// None: there are no such data.
std::optional<DataDesc> FromC(const hopper_data_desc* desc);
PackedBuffer FromC(const hopper_buffer& buffer);
ConfigSource FromC(const hopper_config& config);

template <typename T>
const T* PointerTo(const std::optional<T>& value) {
  return value.has_value() ? &*value : nullptr;
}

}  // namespace hopper
