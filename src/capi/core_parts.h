// Parts of the core's table that have files of their own.
#pragma once

#include "model_hopper/core.h"

namespace hopper {

void SetModelFunctions(hopper_core_api* api);
void SetConfigurationFunctions(hopper_core_api* api);
void SetDataFunctions(hopper_core_api* api);
void SetEngineFunctions(hopper_core_api* api);

}  // namespace hopper
