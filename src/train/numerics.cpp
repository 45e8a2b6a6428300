// The numerics class: what must be equal for equal bits.
#include <ATen/Version.h>
#include <torch/version.h>

#include "kernels/bf16.h"
#include "kernels/kernels.h"
#include "model/planned/step_plan.h"
#include "train/numerics_check.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {

namespace {

// To be counted up with every change of what a step computes from the same numbers; what the check
// below does not happen to see is told apart by this.
constexpr int kKernelsVersion = 10;

#ifdef __clang__
constexpr char kCompiler[] = "clang " __clang_version__;
#else
constexpr char kCompiler[] = "gcc " __VERSION__;
#endif

}  // namespace

bool IsEmulated(Precision precision) {
  return precision == Precision::kBf16 && !Bf16KernelsHere().native;
}

double Gain(Precision precision) {
  if (precision != Precision::kBf16) return 1.0;
  static const double gain = [] { return Bf16Gain(KernelsHere(), Bf16KernelsHere()); }();
  return gain;
}

std::string NumericsClass(const std::string& precision, int threads) {
  // Subnormal numbers are what emulation differs in, the order of sums is AMX's (kernels/bf16.h).
  const bool bf16 = precision == PrecisionName(Precision::kBf16);
  const bool emulated = bf16 && !Bf16KernelsHere().native;
  const bool tiles = bf16 && Bf16KernelsHere().tiles;
  // Bits also depend on the form in which a step is executed and on the threads of one operation.
  return "kernels " + std::to_string(kKernelsVersion) + " (" + kCompiler + ", " + NumericsCheck() +
         "), torch " TORCH_VERSION ", " + at::get_cpu_capability() + ", " + precision +
         (emulated ? " emulated"
          : tiles  ? " AMX"
                   : "") +
         (PlannedStepsAreUsed() || bf16 ? ", planned, " : ", autograd, ") +
         std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

bool IsOlderNameOf(const std::string& older, const std::string& here) {
  const size_t begin = here.find("), torch ");
  return here.rfind("kernels ", 0) == 0 && begin != std::string::npos &&
         here.substr(begin + 3) == older;
}

}  // namespace hopper
