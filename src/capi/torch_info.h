// What build_info() and gpu_configuration() tell.
#pragma once

#include "model_hopper/core_api.h"

namespace hopper {

hopper_rows* BuildInfoRows();
hopper_rows* GpuRows();

}  // namespace hopper
