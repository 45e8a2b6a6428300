// The order of examples in a pass.
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "data/dataset.h"

namespace hopper {

std::vector<int32_t> BatchOrder(uint64_t seed, int partition, int64_t pass, int64_t n,
                                bool shuffle) {
  std::vector<int32_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return order;
  // Fisher and Yates; draw i is a pure function of i.
  const Philox philox(seed, Purpose::kShuffle, static_cast<uint32_t>(partition),
                      static_cast<uint64_t>(pass));
  for (int64_t i = n - 1; i > 0; --i) {
    const auto at = static_cast<uint64_t>(i);
    const uint64_t j = philox.Below(at, at + 1);
    std::swap(order[at], order[j]);
  }
  return order;
}

}  // namespace hopper
