// The kernels for x86-64 processors with AVX2; the build compiles this file for that set.
#include "kernels/kernels.h"

#if defined(__AVX2__)
#include "kernels/table.h"

namespace hopper {

const Kernels* Avx2Kernels() {
  static constexpr Kernels kTable = TableNamed("AVX2");
  const bool runs_here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return runs_here ? &kTable : nullptr;
}

}  // namespace hopper
#else
namespace hopper {

const Kernels* Avx2Kernels() { return nullptr; }

}  // namespace hopper
#endif
