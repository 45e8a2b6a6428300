// The numerics class: what must be equal for equal bits.
#include <ATen/Version.h>
#include <torch/version.h>

#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {

std::string NumericsClass(const std::string& precision, int threads) {
  // Bits also depend on the form in which a step is executed and on the threads of one operation.
  return "torch " TORCH_VERSION ", " + at::get_cpu_capability() + ", " + precision +
         (PlannedStepsAreUsed() ? ", planned, " : ", autograd, ") + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

}  // namespace hopper
