// The devices that models can train on side by side: this machine's GPUs.
#pragma once

#include <memory>

#include "engine/devices/cuda_devices.h"
#include "train/lane_device.h"

namespace hopper {

// ListCudaDevices(), where training on them was built; else no device and the reason.
CudaDevices ListLaneDevices();

// Opens the device of that index, on the thread that will use it. Loads libhopper_cuda.so,
// and with it libtorch's CUDA part. Throws Error(kDevice).
std::unique_ptr<LaneDevice> OpenLaneDevice(int index);

// Loads libtorch's CUDA part where a driver is. libtorch looks for it once, when a process first
// convolves or goes backward, on whatever device: this comes before anything is computed. Does
// nothing on machines without a driver.
void PrepareLaneDevices();

// For tests: `count` devices that compute on the CPU take the GPUs' place, and say that they have
// `free_bytes` (-1: they do not say); 0 ends that.
void UseCpuLaneDevices(int count, int64_t free_bytes = -1);

}  // namespace hopper
