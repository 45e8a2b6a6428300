#include "train/loaded_batch.h"

#include <algorithm>

namespace hopper {
namespace {

constexpr int64_t kFloatsOfClass = sizeof(int64_t) / sizeof(float);

}  // namespace

LoadedBatch::LoadedBatch(const DataDesc& desc, int64_t capacity)
    : desc_(desc), input_(capacity * desc.x_elements()) {
  targets_.num_classes = desc.num_classes;
  if (desc.y_kind == LabelKind::kClass) {
    labels_ = WorkerArray(capacity * kFloatsOfClass);
    targets_.classes = reinterpret_cast<const int64_t*>(labels_.data());
  } else {
    targets_.size = desc.y_elements();
    labels_ = WorkerArray(capacity * targets_.size);
    targets_.values = labels_.data();
  }
}

void LoadedBatch::Load(const Partition& partition, const int32_t* rows, int64_t n) {
  GatherFeatures(desc_, partition, rows, n, input_.data());
  if (targets_.classes != nullptr) {
    GatherClasses(desc_, partition, rows, n, reinterpret_cast<int64_t*>(labels_.data()));
  } else {
    GatherValues(desc_, partition, rows, n, labels_.data());
  }
  size_ = n;
}

void LoadedBatch::Classes(int64_t* out) const {
  if (targets_.classes != nullptr) {
    std::copy_n(targets_.classes, size_, out);
    return;
  }
  const int64_t elements = targets_.size;
  const float* row = targets_.values;
  for (int64_t i = 0; i < size_; ++i, row += elements) {
    out[i] =
        elements == 1 ? static_cast<int64_t>(row[0]) : std::max_element(row, row + elements) - row;
  }
}

}  // namespace hopper
