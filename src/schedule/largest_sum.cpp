#include "schedule/largest_sum.h"

#include <iterator>

namespace hopper {

void LargestSum::Add(int64_t number) {
  ++looks_;
  largest_.insert(number);
  sum_ += number;
  if (static_cast<int64_t>(largest_.size()) <= n_) return;
  const auto smallest = largest_.begin();
  sum_ -= *smallest;
  others_.insert(*smallest);
  largest_.erase(smallest);
}

void LargestSum::Remove(int64_t number) {
  ++looks_;
  // Of equals those that are not summed up go first.
  const auto other = others_.find(number);
  if (other != others_.end()) {
    others_.erase(other);
    return;
  }
  const auto found = largest_.find(number);
  if (found == largest_.end()) return;
  sum_ -= number;
  largest_.erase(found);
  if (others_.empty()) return;
  const auto next = std::prev(others_.end());
  sum_ += *next;
  largest_.insert(*next);
  others_.erase(next);
}

int64_t LargestSum::SumWith(int64_t number, int times) const {
  int64_t sum = sum_;
  int64_t free = n_ - static_cast<int64_t>(largest_.size());
  auto smallest = largest_.begin();
  for (int i = 0; i < times; ++i) {
    ++looks_;
    if (free > 0) {
      sum += number;
      --free;
    } else if (smallest != largest_.end() && *smallest < number) {
      sum += number - *smallest;
      ++smallest;
    }
  }
  return sum;
}

}  // namespace hopper
