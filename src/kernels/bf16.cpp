#include "kernels/bf16.h"

#include <cstring>

#include "kernels/cpu_capability.h"

namespace hopper {

const Bf16Kernels& Bf16KernelsFor(const char* capability) {
  const bool avx512 = std::strcmp(capability, "AVX512") == 0;
  if (avx512 && AmxBf16Kernels() != nullptr) return *AmxBf16Kernels();
  if (avx512 && Avx512Bf16Kernels() != nullptr) return *Avx512Bf16Kernels();
  if ((avx512 || std::strcmp(capability, "AVX2") == 0) && Avx2Bf16Kernels() != nullptr) {
    return *Avx2Bf16Kernels();
  }
  return *BaselineBf16Kernels();
}

const Bf16Kernels& Bf16KernelsHere() { return Bf16KernelsFor(CpuCapability()); }

}  // namespace hopper
