// What this process may use of its machine.
#pragma once

#include <cstdint>

namespace hopper {

// Bytes: the machine's, or fewer where a control group limits them.
int64_t AvailableMemory();
// The processors that this process may run on, or fewer where a control group limits their time.
int32_t AvailableProcessors();

}  // namespace hopper
