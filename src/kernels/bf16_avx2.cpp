// Products of bfloat16 numbers for x86-64 processors with AVX2, computed in float32; the build
// compiles this file for that set.
#include "kernels/bf16.h"

#if defined(__AVX2__)
#include "kernels/bf16_gemm.h"
#include "kernels/bf16_pack.h"

namespace hopper {

const Bf16Kernels* Avx2Bf16Kernels() {
  static constexpr Bf16Kernels kTable = Bf16TableNamed("AVX2", false);
  const bool runs_here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return runs_here ? &kTable : nullptr;
}

}  // namespace hopper
#else
namespace hopper {

const Bf16Kernels* Avx2Bf16Kernels() { return nullptr; }

}  // namespace hopper
#endif
