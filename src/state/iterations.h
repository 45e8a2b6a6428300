// How far a stored state has been trained.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hopper {

// The finished iterations of a model, from its image (state.h). Throws kCorrupt for a damaged one.
int64_t IterationsOfState(const uint8_t* image, size_t size);

}  // namespace hopper
