#include "engine/build_info.h"

#include <thread>

#include "kernels/cpu_capability.h"
#include "train/trainer.h"

namespace hopper {

std::vector<std::pair<std::string, std::string>> BuildInfo() {
  return {
      {"cpu_capability", CpuCapability()},
      {"numerics_class", NumericsClass("fp32")},
      {"cpu_cores", std::to_string(std::thread::hardware_concurrency())},
      {"threads_per_model", "1, unless a run says otherwise"},
      {"tensor_allocator", "caching, 64-byte aligned, one cache a worker"},
  };
}

}  // namespace hopper
