// Who has room beside whom: models that keep memory while they are in, and what as many tasks take
// beside them as run at a time, one a model. Each call takes a number of steps that grows with the
// logarithm of how many are in. Bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/largest_sum.h"

namespace hopper {

class ModelRoom {
 public:
  ModelRoom(int64_t budget, int64_t workers) : budget_(budget), tasks_(workers) {}

  // Whoever is alone has room: whether it fits at all is another question.
  bool HasFor(int64_t lasting, int64_t task) const {
    return n_ == 0 || lasting_ + lasting + tasks_.SumWith(task, 1) <= budget_;
  }
  void Enter(int64_t lasting, int64_t task) {
    ++n_;
    lasting_ += lasting;
    tasks_.Add(task);
    most_ = std::max(most_, lasting_ + tasks_.sum());
  }
  // With what it entered with.
  void Leave(int64_t lasting, int64_t task) {
    --n_;
    lasting_ -= lasting;
    tasks_.Remove(task);
  }
  int64_t lasting() const { return lasting_; }
  // Of all that were in and their tasks at a time, so far.
  int64_t most() const { return most_; }

 private:
  int64_t budget_;
  int64_t n_ = 0;
  int64_t lasting_ = 0;
  int64_t most_ = 0;
  LargestSum tasks_;
};

}  // namespace hopper
