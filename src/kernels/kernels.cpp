#include "kernels/kernels.h"

#include <cstring>

#include "kernels/cpu_capability.h"

namespace hopper {

const Kernels& KernelsFor(const char* capability) {
  const bool avx512 = std::strcmp(capability, "AVX512") == 0;
  if (avx512 && Avx512Kernels() != nullptr) return *Avx512Kernels();
  if ((avx512 || std::strcmp(capability, "AVX2") == 0) && Avx2Kernels() != nullptr) {
    return *Avx2Kernels();
  }
  return *BaselineKernels();
}

const Kernels& KernelsHere() { return KernelsFor(CpuCapability()); }

}  // namespace hopper
