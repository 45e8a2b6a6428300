// The kernels for x86-64 processors with AVX512; the build compiles this file for that set.
#include "kernels/kernels.h"

#if defined(__AVX512F__)
#include "kernels/table.h"

namespace hopper {

const Kernels* Avx512Kernels() {
  static constexpr Kernels kTable = TableNamed("AVX512");
  const bool runs_here = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("fma");
  return runs_here ? &kTable : nullptr;
}

}  // namespace hopper
#else
namespace hopper {

const Kernels* Avx512Kernels() { return nullptr; }

}  // namespace hopper
#endif
