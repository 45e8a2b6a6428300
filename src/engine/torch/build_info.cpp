#include "engine/torch/build_info.h"

#include <torch/version.h>

#include "engine/devices/cuda_devices.h"

namespace hopper {

std::vector<std::pair<std::string, std::string>> TorchBuildInfo() {
  const CudaDevices cuda = ListCudaDevices();
  return {
      {"libtorch", TORCH_VERSION},
#ifdef HOPPER_CUDA_MAJOR
      {"cuda_compiled", "yes"},
#else
      {"cuda_compiled", "no"},
#endif
      {"cuda_devices", std::to_string(cuda.devices.size())},
      {"cuda_status", cuda.devices.empty() ? cuda.reason : "available"},
  };
}

}  // namespace hopper
