// Products of bfloat16 numbers for x86-64 processors with AVX512-BF16; the build compiles this
// file for that set.
#include "kernels/bf16.h"

#if defined(__AVX512BF16__)
#include "kernels/bf16_gemm.h"
#include "kernels/bf16_pack.h"

namespace hopper {

const Bf16Kernels* Avx512Bf16Kernels() {
  static constexpr Bf16Kernels kTable = Bf16TableNamed("AVX512-BF16", true);
  const bool runs_here = __builtin_cpu_supports("avx512bf16") &&
                         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("fma");
  return runs_here ? &kTable : nullptr;
}

}  // namespace hopper
#else
namespace hopper {

const Bf16Kernels* Avx512Bf16Kernels() { return nullptr; }

}  // namespace hopper
#endif
