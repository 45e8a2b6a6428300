// The kernels for any processor of the architecture.
#include "kernels/table.h"

namespace hopper {

const Kernels* BaselineKernels() {
  static constexpr Kernels kTable = TableNamed("baseline");
  return &kTable;
}

}  // namespace hopper
