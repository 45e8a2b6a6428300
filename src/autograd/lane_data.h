// Packed data on a device, in its own type: all partitions of a table one after another.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "autograd/lane_device.h"
#include "data/dataset.h"

namespace hopper {

// Throws where so many rows cannot be told apart on a device, whose tables of rows hold 32 bits
// each.
void CheckLaneRows(int64_t rows, const DataDesc& desc);

// Immutable after construction.
class LaneData {
 public:
  // Copies `data`, which must be complete; it is not needed afterwards.
  LaneData(const Dataset& data, LaneDevice* device);

  const DataDesc& desc() const { return desc_; }
  int64_t rows() const { return features_.size(0); }
  int64_t first_row(int partition) const { return first_[static_cast<size_t>(partition)]; }
  int64_t rows(int partition) const { return first_row(partition + 1) - first_row(partition); }
  int64_t bytes() const;

  // float32 features of the examples `rows` (int32 or int64, one axis, on the device), divided by
  // the normalizing constant: [rows, values]. The bits are those of GatherFeatures().
  at::Tensor Features(const at::Tensor& rows) const;
  // int64 [rows] for class labels, else float32 [rows, values].
  at::Tensor Labels(const at::Tensor& rows) const;

 private:
  const DataDesc desc_;
  std::vector<int64_t> first_;  // n_partitions + 1
  at::Tensor features_;         // [rows, values]
  at::Tensor labels_;           // [rows, values]
  at::Tensor divisor_;          // undefined for 1
};

}  // namespace hopper
