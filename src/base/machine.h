// What this process may use of its machine.
#pragma once

#include <cstdint>
#include <string>

namespace hopper {

// `root` is put before /proc and /sys, as in base/cgroup.h.

// Bytes: the machine's, or fewer where a control group limits them.
int64_t AvailableMemory(const std::string& root = "");
// The processors that this process may run on, or fewer where a control group limits their time.
int32_t AvailableProcessors(const std::string& root = "");

}  // namespace hopper
