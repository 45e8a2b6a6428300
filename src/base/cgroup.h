// What a container or service may use of its machine: the limits of its control groups.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace hopper {

struct CgroupLimits {
  int64_t memory = std::numeric_limits<int64_t>::max();    // bytes
  double processors = std::numeric_limits<double>::max();  // that may be busy at the same time
};

// The tightest limits of the calling process' groups and of all groups above them, of both versions
// of the kernel's interface. `root` is put before /proc and /sys. What cannot be read does not
// limit: a container sees its own group, but not always under the name that /proc gives it.
CgroupLimits ReadCgroupLimits(const std::string& root = "");

}  // namespace hopper
