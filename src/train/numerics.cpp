// The numerics class: what must be equal for equal bits.
#include "kernels/bf16.h"
#include "kernels/cpu_capability.h"
#include "kernels/kernels.h"
#include "model/planned/step_plan.h"
#include "train/numerics_check.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {

namespace {

// To be counted up with every change of what a step computes from the same numbers; what the check
// below does not happen to see is told apart by this.
constexpr int kKernelsVersion = 11;

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

std::string NumericsClass(const std::string& precision, int threads, const std::string& torch) {
  // Subnormal numbers are what emulation differs in, the order of sums is AMX's (kernels/bf16.h).
  const bool bf16 = precision == PrecisionName(Precision::kBf16);
  const bool emulated = bf16 && !Bf16KernelsHere().native;
  const bool tiles = bf16 && Bf16KernelsHere().tiles;
  // Bits also depend on the form in which a step is executed and on the threads of one operation.
  return "kernels " + std::to_string(kKernelsVersion) + " (" + kCompiler + ", " + NumericsCheck() +
         "), " + (torch.empty() ? "" : torch + ", ") + CpuCapability() + ", " + precision +
         (emulated ? " emulated"
          : tiles  ? " AMX"
                   : "") +
         (PlannedStepsAreUsed() || bf16 ? ", planned, " : ", autograd, ") +
         std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

bool IsOlderNameOf(const std::string& older, const std::string& here) {
  // "torch 2.11.0, AVX512, fp32, planned, 1 thread": all behind libtorch's version is at the end.
  constexpr char kTorch[] = "torch ";
  const size_t end = older.find(", ");
  if (here.rfind("kernels ", 0) != 0 || older.rfind(kTorch, 0) != 0 || end == std::string::npos) {
    return false;
  }
  const std::string rest = older.substr(end);
  return here.size() > rest.size() &&
         here.compare(here.size() - rest.size(), rest.size(), rest) == 0;
}

}  // namespace hopper
