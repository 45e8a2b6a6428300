// The GPUs of this machine, as its CUDA driver lists them.
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

// None where libhopper_cuda.so was not built, or for a newer driver than there is. Without a driver
// nothing of CUDA is loaded. May be called from any thread.
CudaDevices ListCudaDevices();

// Whether the driver's library is on this machine, perhaps without a GPU; asks it nothing.
bool HasCudaDriver();

// The folder of the library that holds this code, with a slash at its end; "" if unknown, which
// leaves the search to the loader.
std::string OwnFolder();

}  // namespace hopper
