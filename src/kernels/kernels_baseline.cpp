// The kernels for any processor of the architecture.
#include "kernels/table.h"

namespace hopper {

const Kernels* BaselineKernels() {
  static constexpr Kernels table = TableNamed("baseline");
  return &table;
}

}  // namespace hopper
