// Visits that have ended, in the order of their ends, until somebody takes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/visit_record.h"

namespace hopper {

class VisitLog {
 public:
  // True: there are so many that their reader is to be woken, who takes them with the next event
  // otherwise.
  bool Add(const VisitRecord& visit) {
    visits_.push_back(visit);
    return visits_.size() % kMany == 0;
  }
  // Nobody takes them: workers wait.
  bool IsFull() const { return visits_.size() - taken_ >= kMost; }
  std::vector<VisitRecord> Take(size_t n) {
    const auto first = visits_.begin() + static_cast<std::ptrdiff_t>(taken_);
    n = std::min(visits_.size() - taken_, n);
    std::vector<VisitRecord> taken(first, first + static_cast<std::ptrdiff_t>(n));
    taken_ += n;
    if (taken_ == visits_.size()) {
      visits_.clear();
      taken_ = 0;
    }
    return taken;
  }

 private:
  static constexpr size_t kMany = 4096;
  static constexpr size_t kMost = 16 * kMany;
  std::vector<VisitRecord> visits_;
  size_t taken_ = 0;
};

}  // namespace hopper
