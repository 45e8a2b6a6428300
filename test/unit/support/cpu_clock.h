// Time for assertions: what this process computed, on all of its threads. A machine that does much
// else makes everything late, but nobody compute more.
#pragma once

#include <ctime>

namespace hopper {

inline double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace hopper
