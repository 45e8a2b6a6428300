// Packed data with what checks of models against them need.
#pragma once

#include <optional>

#include "data/dataset.h"
#include "model_hopper/data.h"

namespace hopper {

// FromC() with DataDesc::misfit where columns have treatments. Null stays none.
std::optional<DataDesc> CheckedFromC(const hopper_data_desc* desc);

}  // namespace hopper
