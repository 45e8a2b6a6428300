// Where the buffers of a planned step lie in its memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/planned/planned_op.h"

namespace hopper {

// Gives each buffer of one float or more an offset, in floats: those whose times overlap have no
// memory in common. Returns the floats of all; kMostFloats or more is never allocated.
int64_t PlaceBuffers(std::vector<PlanBuffer*> buffers,
                     std::vector<std::pair<PlanBuffer*, int64_t>>* offsets);

}  // namespace hopper
