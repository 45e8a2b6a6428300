// Products of bfloat16 numbers for any processor of the architecture.
#include "kernels/bf16_gemm.h"
#include "kernels/bf16_pack.h"

namespace hopper {

const Bf16Kernels* BaselineBf16Kernels() {
  static constexpr Bf16Kernels kTable = Bf16TableNamed("baseline", false);
  return &kTable;
}

}  // namespace hopper
