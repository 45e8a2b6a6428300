#include "schedule/ring.h"

#include <string>
#include <utility>

#include "base/error.h"

namespace hopper {

Ring::Ring(int n_partitions, std::vector<int> starts)
    : n_partitions_(n_partitions), starts_(std::move(starts)) {
  bool valid = n_partitions >= 1 && !starts_.empty() && starts_.front() == 0 &&
               starts_.back() < n_partitions;
  for (size_t i = 1; i < starts_.size(); ++i) valid = valid && starts_[i - 1] < starts_[i];
  if (!valid) {
    throw Error(ErrorCode::kInvalidParameter,
                "starts of the runs of partitions do not fit " + std::to_string(n_partitions) +
                    " partitions",
                "They ascend, begin with 0 and are smaller than the number of partitions.");
  }
}

int Ring::FirstPartition(int mst_key) const {
  const auto n = static_cast<int64_t>(starts_.size());
  // Keys may be zero or negative; the remainder must not be.
  const int64_t at = ((static_cast<int64_t>(mst_key) - 1) % n + n) % n;
  return starts_[static_cast<size_t>(at)];
}

int Ring::PartitionOf(int mst_key, int visit) const {
  return (FirstPartition(mst_key) + visit) % n_partitions_;
}

}  // namespace hopper
