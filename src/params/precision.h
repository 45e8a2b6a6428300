// The argument "dtype" of a training run.
#pragma once

#include <string>

namespace hopper {

// kBf16: products of convolutions and dense layers take bfloat16 operands, everything else stays
// float32. kTf32: GPUs only.
enum class Precision { kFp32, kBf16, kTf32 };

// "fp32", "bf16" or "tf32" (on GPUs). Throws for an unknown name, and for one that the device
// does not have.
Precision ParsePrecision(const std::string& name, bool on_gpu);
const char* PrecisionName(Precision precision);

}  // namespace hopper
