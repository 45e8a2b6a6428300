// Which models have room beside others. Bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "schedule/largest_sum.h"

namespace hopper {

// Models that keep memory while they are in, and what as many tasks take beside them as run at a
// time, one a model. Each call takes a number of steps that grows with the logarithm of how many
// are in.
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

// Tasks that run now, each with what it was promised.
class RunningTasks {
 public:
  void Begin(int64_t bytes) {
    ++n_;
    bytes_ += bytes;
  }
  void End(int64_t bytes) {
    --n_;
    bytes_ -= bytes;
  }
  int64_t bytes() const { return bytes_; }
  // What a further task may take of what tasks have together. Where that is short, they wait for
  // one another; the only one has what it needs.
  int64_t RoomOf(int64_t all) const {
    return n_ == 0 ? std::numeric_limits<int64_t>::max() : all - bytes_;
  }

 private:
  int n_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace hopper
