// The numerics class: what must be equal for equal bits.
#include <ATen/Version.h>
#include <torch/version.h>

#include "kernels/bf16.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {

bool IsEmulated(Precision precision) {
  return precision == Precision::kBf16 && !Bf16KernelsFor(at::get_cpu_capability().c_str()).native;
}

std::string NumericsClass(const std::string& precision, int threads) {
  // Subnormal numbers are what differs (kernels/bf16.h).
  const bool bf16 = precision == PrecisionName(Precision::kBf16);
  const bool emulated = bf16 && IsEmulated(Precision::kBf16);
  // Bits also depend on the form in which a step is executed and on the threads of one operation.
  return "torch " TORCH_VERSION ", " + at::get_cpu_capability() + ", " + precision +
         (emulated ? " emulated" : "") +
         (PlannedStepsAreUsed() || bf16 ? ", planned, " : ", autograd, ") +
         std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace hopper
