// The tensors of one batch: features and targets gathered from a partition.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "loss/loss.h"
#include "model/shape.h"

namespace hopper {

// Buffers for batches of up to `capacity` examples, filled again for each batch. The tensors of a
// batch stay valid until the next Load(). Not thread-safe.
class BatchTensors {
 public:
  // `output_shape` is the model's: targets of as many elements get its shape.
  BatchTensors(const DataDesc& desc, const Shape& input_shape, const Shape& output_shape,
               int64_t capacity);

  // Gathers the examples rows[0..n), n <= capacity.
  void Load(const Partition& partition, const int32_t* rows, int64_t n);

  const at::Tensor& input() const { return input_; }
  const Targets& targets() const { return targets_; }
  int64_t size() const { return size_; }
  // The class of each example, for class weights: the class index, the largest element of an
  // array, the whole part of a single value.
  void Classes(int64_t* out) const;

 private:
  const DataDesc& desc_;
  int64_t capacity_;
  int64_t size_ = 0;
  at::Tensor all_input_;    // [capacity, ...]
  at::Tensor all_targets_;  // [capacity] or [capacity, ...]
  at::Tensor input_;        // the first size_ examples
  Targets targets_;
};

}  // namespace hopper
