// The slot of the core's table that lists what there is.
#pragma once

#include "model_hopper/basics.h"

namespace hopper {

// hopper_core_api.list.
int ListRows(const char* what, hopper_rows** rows, hopper_error* error);

}  // namespace hopper
