#include "engine/torch/build_info.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <thread>

#include "engine/devices/cuda_devices.h"
#include "train/trainer.h"

namespace hopper {

std::vector<std::pair<std::string, std::string>> BuildInfo() {
  const CudaDevices cuda = ListCudaDevices();
  return {
      {"libtorch", TORCH_VERSION},
      {"cpu_capability", at::get_cpu_capability()},
      {"numerics_class", NumericsClass("fp32")},
      {"cpu_cores", std::to_string(std::thread::hardware_concurrency())},
      {"threads_per_model", "1, unless a run says otherwise"},
      {"tensor_allocator", "caching, 64-byte aligned, one cache a worker"},
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
