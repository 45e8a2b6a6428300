// How the functions of device.h report a failed CUDA call.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

namespace hopper {

// Writes "<action> failed: <CUDA's words>" into `error` and returns -1.
inline int CudaFail(cudaError_t status, const char* action, char* error, size_t error_size) {
  if (error != nullptr && error_size > 0) {
    std::snprintf(error, error_size, "%s failed: %s", action, cudaGetErrorString(status));
  }
  cudaGetLastError();
  return -1;
}

}  // namespace hopper
