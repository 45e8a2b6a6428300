#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "engine/cuda/device.h"
#include "engine/cuda/fail.h"

extern "C" int hopper_cuda_devices(hopper_cuda_device* devices, int capacity, char* error,
                                   size_t error_size) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
      status == cudaErrorStubLibrary) {
    cudaGetLastError();  // these are answers, not errors for the next call to trip over
    return 0;
  }
  if (status != cudaSuccess) {
    return hopper::CudaFail(status, "listing devices", error, error_size);
  }
  for (int i = 0; i < std::min(count, capacity); ++i) {
    cudaDeviceProp properties;
    const cudaError_t read = cudaGetDeviceProperties(&properties, i);
    if (read != cudaSuccess) {
      return hopper::CudaFail(read, "reading a device's properties", error, error_size);
    }
    hopper_cuda_device& device = devices[i];
    device.index = i;
    device.capability_major = properties.major;
    device.capability_minor = properties.minor;
    device.memory = static_cast<int64_t>(properties.totalGlobalMem);
    std::snprintf(device.name, sizeof(device.name), "%s", properties.name);
  }
  return count;
}
