// The GPUs of this machine, through libhopper_cuda.so where it was built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hopper {

struct CudaDevice {
  int index = 0;
  std::string name;
  int64_t memory = 0;      // bytes
  std::string capability;  // "9.0"
};

struct CudaDevices {
  std::vector<CudaDevice> devices;
  // Where devices is empty: why, for build_info() and gpu_configuration().
  std::string reason;
};

// Loads libhopper_cuda.so, which lies beside the library that this is linked into, if the machine
// has a CUDA driver; without one nothing is loaded. May be called from any thread.
CudaDevices ListCudaDevices();

// The folder of the library that holds this code, with a slash at its end; "" if unknown, which
// leaves the search to the loader.
std::string OwnFolder();

}  // namespace hopper
