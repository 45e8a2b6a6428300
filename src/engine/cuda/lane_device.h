// The C interface of libhopper_cuda.so: training on a GPU with libtorch's CUDA part, which
// it is linked with. engine/devices/lane_devices.h loads it by name, and only where a GPU is.
#pragma once

#include <stddef.h>

#include "autograd/lane_device.h"

extern "C" {
#pragma GCC visibility push(default)

// A device, to be deleted by the caller before the process ends; null and `error` where it cannot
// be opened. Both sides must be of one build.
hopper::LaneDevice* hopper_cuda_lane_device(int index, char* error, size_t error_size);

#pragma GCC visibility pop
}
