// The C interface of libhopper_cuda.so, the part that is compiled by nvcc.
//
// It is loaded by name (engine/cuda_devices.h) and only where a CUDA driver is; the CUDA runtime is
// linked in statically, so that loading it on a machine without a driver works too and finds no
// device. No exception and no CUDA type crosses. Every function may be called from any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct hopper_cuda_device {
  int32_t index;  // the CUDA runtime's
  int32_t capability_major;
  int32_t capability_minor;
  int64_t memory;  // bytes, all of it
  char name[256];
} hopper_cuda_device;

// Fills at most `capacity` entries and returns how many devices there are: 0 without a GPU or a
// driver, -1 where the driver fails (`error` says how).
int hopper_cuda_devices(hopper_cuda_device* devices, int capacity, char* error, size_t error_size);

// One fused SGD step of Keras (velocity = momentum * velocity - rate * gradient; weights +=
// velocity, or with nesterov weights += momentum * velocity - rate * gradient) on `count` floats
// that lie in the device's memory, queued on its default stream. Returns 0, or -1 and `error`.
int hopper_cuda_sgd_step(float* weights, const float* gradients, float* velocity, int64_t count,
                         float rate, float momentum, int nesterov, char* error, size_t error_size);

// Takes three SGD steps on a device and the same on the CPU. Returns 0 where all values are
// equal bit for bit, else -1 and `error`.
int hopper_cuda_self_test(int device, char* error, size_t error_size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
