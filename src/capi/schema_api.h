// The table of a schema's functions, a part of the core's table.
#pragma once

#include "model_hopper/schema.h"

namespace hopper {

hopper_schema_api MakeSchemaApi();

}  // namespace hopper
