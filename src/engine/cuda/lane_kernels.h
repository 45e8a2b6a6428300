// Kernels of training side by side: queued on a stream, without waiting. Pointers are to device
// memory. They return what cudaGetLastError() says after the launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "optim/lane_update.h"

namespace hopper {

// LaneDevice::DropoutMask().
cudaError_t LaunchDropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer,
                              uint32_t threshold, float scale, int64_t lanes, int64_t elements,
                              float* mask, cudaStream_t stream);

// LaneDevice::Uniform().
cudaError_t LaunchUniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
                          int64_t elements, float* values, cudaStream_t stream);

// One optimizer step of all lanes with the bits of UpdateLanes(), but for sums of squares, which
// are added in another (fixed) order.
cudaError_t LaunchLaneUpdate(const LaneUpdate& update, cudaStream_t stream);

}  // namespace hopper
