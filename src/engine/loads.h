// What an engine has read of packed data.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "engine/run_info.h"

namespace hopper {

class Loads {
 public:
  // All at once, before the start.
  void AddAll(int64_t partitions, int64_t bytes) {
    n_ += partitions;
    bytes_ += bytes;
  }
  // A partition is asked for; it is there.
  void Begin() { since_ = MonotonicSeconds(); }
  void End(int64_t bytes) {
    AddAll(1, bytes);
    seconds_ += MonotonicSeconds() - since_;
  }
  void Tell(RunInfo* info) const {
    info->n_loads = n_;
    info->bytes_read = bytes_;
    info->seconds_reading = seconds_;
  }

 private:
  int64_t n_ = 0;
  int64_t bytes_ = 0;
  double since_ = 0.0;
  double seconds_ = 0.0;
};

}  // namespace hopper
