// Which instruction sets this processor's kernels may use.
#pragma once

namespace hopper {

// "AVX512", "AVX2" or "DEFAULT", by the rule of at::get_cpu_capability(), so that the numerics
// class names what runs here too: what the environment's ATEN_CPU_CAPABILITY asks for, else the
// most that the processor has. Thread-safe.
const char* CpuCapability();

}  // namespace hopper
