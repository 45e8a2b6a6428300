// Functions that are compiled for the CPU and, in CUDA's sources, for the GPU as well.
#pragma once

#ifdef __CUDACC__
#define HOPPER_HOST_DEVICE __host__ __device__
#else
#define HOPPER_HOST_DEVICE
#endif
