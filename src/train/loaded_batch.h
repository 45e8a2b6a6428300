// One batch: features and targets gathered from a partition.
#pragma once

#include <cstdint>

#include "base/worker_memory.h"
#include "data/dataset.h"
#include "loss/targets.h"

namespace hopper {

// Buffers for batches of up to `capacity` examples, filled again for each batch: what it gives
// stays valid until the next Load(). Not thread-safe.
class LoadedBatch {
 public:
  // `desc` outlives it.
  LoadedBatch(const DataDesc& desc, int64_t capacity);

  // Gathers the examples rows[0..n), n <= capacity.
  void Load(const Partition& partition, const int32_t* rows, int64_t n);

  // [size, x_elements]
  const float* input() const { return input_.data(); }
  const Targets& targets() const { return targets_; }
  int64_t size() const { return size_; }
  // The class of each example, for class weights: the class index, the largest element of an
  // array, the whole part of a single value.
  void Classes(int64_t* out) const;

 private:
  const DataDesc& desc_;
  int64_t size_ = 0;
  WorkerArray input_;
  WorkerArray labels_;  // float32, or int64 of classes
  Targets targets_;
};

}  // namespace hopper
