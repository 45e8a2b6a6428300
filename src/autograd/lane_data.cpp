#include "autograd/lane_data.h"

#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>

#include <limits>

#include "base/error.h"

namespace hopper {
namespace {

at::ScalarType ScalarTypeOf(ValueType type) {
  switch (type) {
    case ValueType::kUint8:
      return at::kByte;
    case ValueType::kInt16:
      return at::kShort;
    case ValueType::kInt32:
      return at::kInt;
    case ValueType::kInt64:
      return at::kLong;
    case ValueType::kFloat32:
      return at::kFloat;
    case ValueType::kFloat64:
      return at::kDouble;
    default:
      throw Error(ErrorCode::kInternal, "unknown type of packed values");
  }
}

}  // namespace

void CheckLaneRows(int64_t rows, const DataDesc& desc) {
  if (rows <= std::numeric_limits<int32_t>::max()) return;
  throw Error(ErrorCode::kLimitExceeded,
              "\"" + desc.table_name + "\" has more than 2147483647 rows, too many for a GPU", "",
              "Train without use_gpus.");
}

LaneData::LaneData(const Dataset& data, LaneDevice* device) : desc_(data.desc()) {
  first_.push_back(0);
  for (int p = 0; p < data.n_partitions(); ++p) {
    first_.push_back(first_.back() + data.partition(p).n);
  }
  CheckLaneRows(first_.back(), desc_);
  const at::TensorOptions on = at::TensorOptions().device(device->device());
  // Several inputs, each of its own type, go over as what a batch makes of them.
  const bool converted = desc_.inputs.size() > 1;
  const at::TensorOptions x =
      at::TensorOptions().dtype(converted ? at::kFloat : ScalarTypeOf(desc_.x_type));
  const at::TensorOptions y = at::TensorOptions().dtype(ScalarTypeOf(desc_.y_type));
  features_ = at::empty({first_.back(), desc_.x_elements()}, x.device(device->device()));
  labels_ = at::empty({first_.back(), desc_.y_elements()}, y.device(device->device()));
  for (int p = 0; p < data.n_partitions(); ++p) {
    const Partition& from = data.partition(p);
    if (from.n == 0) continue;
    if (converted) {
      const at::Tensor rows = at::empty({from.n, desc_.x_elements()}, x);
      ConvertFeatures(desc_, from.x.data(), from.n, rows.data_ptr<float>());
      features_.narrow(0, first_row(p), from.n).copy_(rows);
    } else {
      features_.narrow(0, first_row(p), from.n)
          .copy_(
              at::from_blob(const_cast<uint8_t*>(from.x.data()), {from.n, desc_.x_elements()}, x));
    }
    labels_.narrow(0, first_row(p), from.n)
        .copy_(at::from_blob(const_cast<uint8_t*>(from.y.data()), {from.n, desc_.y_elements()}, y));
  }
  const auto divisor = converted ? 1.0F : static_cast<float>(desc_.normalizing_const);
  // A tensor and not a number: GPUs multiply by a number's reciprocal instead of dividing.
  if (divisor != 1.0F) divisor_ = at::full({1}, divisor, on.dtype(at::kFloat));
}

int64_t LaneData::bytes() const {
  return static_cast<int64_t>(features_.nbytes() + labels_.nbytes());
}

at::Tensor LaneData::Features(const at::Tensor& rows) const {
  const at::Tensor x = at::index_select(features_, 0, rows);
  if (!divisor_.defined()) return x.to(at::kFloat);
  // As data/gather.cpp does: float64 is divided as such.
  if (x.scalar_type() == at::kDouble) return at::div(x, divisor_.to(at::kDouble)).to(at::kFloat);
  return at::div(x.to(at::kFloat), divisor_);
}

at::Tensor LaneData::Labels(const at::Tensor& rows) const {
  const at::Tensor y = at::index_select(labels_, 0, rows);
  return desc_.y_kind == LabelKind::kClass ? y.to(at::kLong).squeeze(1) : y.to(at::kFloat);
}

}  // namespace hopper
