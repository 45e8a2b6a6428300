#include "kernels/cpu_capability.h"

#include <cstdlib>
#include <cstring>

namespace hopper {

namespace {

const char* OfProcessor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma") == 0) return "DEFAULT";
  if (__builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0) {
    return "AVX512";
  }
  if (__builtin_cpu_supports("avx2") != 0) return "AVX2";
#endif
  return "DEFAULT";
}

const char* Capability() {
  const char* asked = std::getenv("ATEN_CPU_CAPABILITY");
  if (asked != nullptr) {
    if (std::strcmp(asked, "avx512") == 0) return "AVX512";
    if (std::strcmp(asked, "avx2") == 0) return "AVX2";
    if (std::strcmp(asked, "default") == 0) return "DEFAULT";
  }
  return OfProcessor();
}

}  // namespace

const char* CpuCapability() {
  static const char* const capability = Capability();
  return capability;
}

}  // namespace hopper
