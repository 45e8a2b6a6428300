#include "base/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/cgroup.h"

namespace hopper {

int64_t AvailableMemory(const std::string& root) {
  const int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(memory, ReadCgroupLimits(root).memory);
}

int32_t AvailableProcessors(const std::string& root) {
  cpu_set_t allowed;
  // A machine with more processors than a cpu_set_t has is asked for their number.
  const int64_t count = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                            ? CPU_COUNT(&allowed)
                            : sysconf(_SC_NPROCESSORS_ONLN);
  // Half a processor's time is one processor, and one and a half are two.
  const double limit = std::ceil(ReadCgroupLimits(root).processors);
  return static_cast<int32_t>(std::max<int64_t>(
      limit < static_cast<double>(count) ? static_cast<int64_t>(limit) : count, 1));
}

}  // namespace hopper
