#include "params/precision.h"

#include "base/error.h"

namespace hopper {

const char* PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kTf32:
      return "tf32";
  }
  return "";
}

Precision ParsePrecision(const std::string& name, bool on_gpu) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kTf32}) {
    if (name != PrecisionName(precision)) continue;
    if (precision == Precision::kTf32 && !on_gpu) {
      throw Error(ErrorCode::kNotSupported, "dtype \"tf32\" is for GPUs only", "",
                  "Use 'fp32' or 'bf16', or train on GPUs with use_gpus => true.");
    }
    return precision;
  }
  throw Error(ErrorCode::kInvalidParameter, "dtype \"" + name + "\" is not known", "",
              on_gpu ? "Use 'fp32', 'bf16' or 'tf32'." : "Use 'fp32' or 'bf16'.");
}

}  // namespace hopper
