#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "engine/cuda/device.h"
#include "engine/cuda/fail.h"

namespace hopper {
namespace {

struct SgdRule {
  float rate;
  float momentum;
  bool nesterov;
};

// Roundings are spelt out, so that the device and the CPU agree in every bit.
__host__ __device__ inline float MultiplyAdd(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fmaf(a, b, c);
#endif
}

__host__ __device__ inline void SgdUpdate(const SgdRule& rule, float gradient, float* weight,
                                          float* velocity) {
  const float step = -rule.rate * gradient;
  const float moved = MultiplyAdd(rule.momentum, *velocity, step);
  *velocity = moved;
  *weight += rule.nesterov ? MultiplyAdd(rule.momentum, moved, step) : moved;
}

__global__ void SgdKernel(SgdRule rule, float* weights, const float* gradients, float* velocity,
                          int64_t count) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    SgdUpdate(rule, gradients[i], &weights[i], &velocity[i]);
  }
}

// Device memory that is freed with its scope.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t count) : status_(cudaMalloc(&data_, count * sizeof(float))) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  float* data() const { return data_; }
  cudaError_t status() const { return status_; }

 private:
  float* data_ = nullptr;
  cudaError_t status_;
};

cudaError_t ToDevice(const std::vector<float>& from, const DeviceBuffer& to) {
  if (to.status() != cudaSuccess) return to.status();
  return cudaMemcpy(to.data(), from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
}

cudaError_t ToHost(const DeviceBuffer& from, std::vector<float>* to) {
  return cudaMemcpy(to->data(), from.data(), to->size() * sizeof(float), cudaMemcpyDeviceToHost);
}

int CompareWithCpu(bool nesterov, char* error, size_t error_size) {
  constexpr size_t kCount = 100003;  // no multiple of any block size
  const SgdRule rule{0.05f, 0.9f, nesterov};
  std::vector<float> weights(kCount), gradients(kCount), velocity(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    weights[i] = std::sin(0.37f * static_cast<float>(i));
    gradients[i] = std::cos(0.11f * static_cast<float>(i));
    velocity[i] = 1e-3f * weights[i];
  }
  DeviceBuffer device_weights(kCount), device_gradients(kCount), device_velocity(kCount);
  for (cudaError_t status :
       {ToDevice(weights, device_weights), ToDevice(gradients, device_gradients),
        ToDevice(velocity, device_velocity)}) {
    if (status != cudaSuccess) {
      return CudaFail(status, "copying to the device", error, error_size);
    }
  }
  for (int step = 0; step < 3; ++step) {
    if (hopper_cuda_sgd_step(device_weights.data(), device_gradients.data(), device_velocity.data(),
                             kCount, rule.rate, rule.momentum, nesterov, error, error_size) != 0) {
      return -1;
    }
    for (size_t i = 0; i < kCount; ++i) {
      SgdUpdate(rule, gradients[i], &weights[i], &velocity[i]);
    }
  }
  std::vector<float> weights_back(kCount), velocity_back(kCount);
  for (cudaError_t status :
       {ToHost(device_weights, &weights_back), ToHost(device_velocity, &velocity_back)}) {
    if (status != cudaSuccess) {
      return CudaFail(status, "copying from the device", error, error_size);
    }
  }
  for (size_t i = 0; i < kCount; ++i) {
    if (std::memcmp(&weights[i], &weights_back[i], sizeof(float)) != 0 ||
        std::memcmp(&velocity[i], &velocity_back[i], sizeof(float)) != 0) {
      std::snprintf(error, error_size,
                    "SGD on the device differs from the CPU at element %zu: %.9g, expected %.9g", i,
                    weights_back[i], weights[i]);
      return -1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace hopper

extern "C" int hopper_cuda_sgd_step(float* weights, const float* gradients, float* velocity,
                                    int64_t count, float rate, float momentum, int nesterov,
                                    char* error, size_t error_size) {
  constexpr int kThreads = 256;
  constexpr int64_t kMaxBlocks = 4096;
  if (count <= 0) return 0;
  const int64_t blocks = std::min<int64_t>((count + kThreads - 1) / kThreads, kMaxBlocks);
  const hopper::SgdRule rule{rate, momentum, nesterov != 0};
  hopper::SgdKernel<<<static_cast<unsigned>(blocks), kThreads>>>(rule, weights, gradients, velocity,
                                                                 count);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return hopper::CudaFail(status, "an SGD step", error, error_size);
  return 0;
}

extern "C" int hopper_cuda_self_test(int device, char* error, size_t error_size) {
  const cudaError_t status = cudaSetDevice(device);
  if (status != cudaSuccess) {
    return hopper::CudaFail(status, "choosing the device", error, error_size);
  }
  for (bool nesterov : {false, true}) {
    if (hopper::CompareWithCpu(nesterov, error, error_size) != 0) return -1;
  }
  return 0;
}
