#include "train/batch_tensors.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "model/batch_sizes.h"

namespace hopper {

BatchTensors::BatchTensors(const DataDesc& desc, const Shape& input_shape,
                           const Shape& output_shape, int64_t capacity)
    : desc_(desc), capacity_(capacity) {
  // A packed row may be flat where the model wants an image; only the number of values counts.
  const Shape& x_shape =
      ElementCount(input_shape) == desc.x_elements() ? input_shape : desc.x_shape;
  all_input_ = at::empty(WithBatch(capacity, x_shape), at::kFloat);
  targets_.num_classes = desc.num_classes;
  if (desc.y_kind == LabelKind::kClass) {
    all_targets_ = at::empty({capacity}, at::kLong);
  } else {
    const Shape& y_shape =
        ElementCount(output_shape) == desc.y_elements() ? output_shape : desc.y_shape;
    all_targets_ = at::empty(WithBatch(capacity, y_shape), at::kFloat);
  }
}

void BatchTensors::Load(const Partition& partition, const int32_t* rows, int64_t n) {
  GatherFeatures(desc_, partition, rows, n, all_input_.data_ptr<float>());
  const bool classes = desc_.y_kind == LabelKind::kClass;
  if (classes) {
    GatherClasses(desc_, partition, rows, n, all_targets_.data_ptr<int64_t>());
  } else {
    GatherValues(desc_, partition, rows, n, all_targets_.data_ptr<float>());
  }
  if (n == size_) return;
  size_ = n;
  input_ = n == capacity_ ? all_input_ : all_input_.narrow(0, 0, n);
  at::Tensor targets = n == capacity_ ? all_targets_ : all_targets_.narrow(0, 0, n);
  (classes ? targets_.classes : targets_.values) = std::move(targets);
}

void BatchTensors::Classes(int64_t* out) const {
  if (desc_.y_kind == LabelKind::kClass) {
    std::copy_n(all_targets_.data_ptr<int64_t>(), size_, out);
    return;
  }
  const int64_t elements = desc_.y_elements();
  const float* row = all_targets_.data_ptr<float>();
  for (int64_t i = 0; i < size_; ++i, row += elements) {
    out[i] =
        elements == 1 ? static_cast<int64_t>(row[0]) : std::max_element(row, row + elements) - row;
  }
}

}  // namespace hopper
