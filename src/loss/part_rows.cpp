#include "loss/part_rows.h"

#include <algorithm>

#include "base/error.h"

namespace hopper {

PartRows::PartRows(const ObjectivePart& part, int64_t batch, const Targets& targets,
                   const StepMask& mask, bool ignores)
    : batch_(batch), counts_(static_cast<size_t>(batch * part.rows()), 1) {
  const int64_t width = part.width();
  const int64_t n = size();
  const bool numbers = targets.values != nullptr && width > 1 && targets.size == part.rows();
  if (targets.classes != nullptr ? part.rows() > 1 : !numbers && targets.size != part.size) {
    throw Error(ErrorCode::kInternal, "labels do not fit the rows of an output");
  }
  if (targets.classes != nullptr) {
    classes_.assign(targets.classes, targets.classes + n);
  } else if (numbers) {
    classes_.resize(static_cast<size_t>(n));
    std::transform(targets.values, targets.values + n, classes_.begin(),
                   [](float value) { return static_cast<int64_t>(value); });
  } else {
    targets_.values = targets.values;
    targets_.size = width;
  }
  targets_.num_classes = width;
  // A step may have several rows.
  const int64_t rows_of_step = mask.first == nullptr ? 1 : part.rows() / part.mask_size;
  for (int64_t i = 0; mask.first != nullptr && i < n; ++i) {
    const int64_t step = i % part.rows() / rows_of_step;
    counts_[i] = mask.first[i / part.rows() * mask.stride + step] != 0.0F ? 1 : 0;
  }
  if (targets_.values != nullptr) return;
  for (int64_t i = 0; i < n; ++i) {
    if (ignores && part.options.ignore_class && classes_[i] == *part.options.ignore_class) {
      counts_[i] = 0;
    }
    if (counts_[i] == 0) classes_[i] = 0;
  }
  targets_.classes = classes_.data();
}

float PartRows::share() const {
  const auto counted = static_cast<float>(std::count(counts_.begin(), counts_.end(), 1));
  return counted == 0.0F ? 0.0F : static_cast<float>(batch_) / counted;
}

}  // namespace hopper
