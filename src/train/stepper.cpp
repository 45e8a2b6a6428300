#include "train/stepper.h"

#include <algorithm>

#include "optim/learning_rate.h"

namespace hopper {
Stepper::Stepper(const StepperSetup& setup)
    : setup_(setup),
      spec_(setup.network->spec()),
      batch_(setup.data, setup.capacity),
      factors_(static_cast<size_t>(setup.capacity)) {
  if (!setup.class_weights.empty()) classes_.resize(static_cast<size_t>(setup.capacity));
}

void Stepper::Load(const Partition& data, const int32_t* rows, int64_t n) {
  batch_.Load(data, rows, n);
  const bool new_size = n != size_;
  size_ = n;
  if (!new_size && setup_.class_weights.empty()) return;
  // The loss is the mean over the real batch: each example's loss weighs 1 / n.
  const float mean = 1.0F / static_cast<float>(n);
  if (setup_.class_weights.empty()) {
    std::fill_n(factors(), n, mean);
    return;
  }
  batch_.Classes(classes_.data());
  for (int64_t i = 0; i < n; ++i) factors()[i] = WeightOf(classes_[static_cast<size_t>(i)]) * mean;
}

float Stepper::WeightOf(int64_t index) const {
  return index >= 0 && index < static_cast<int64_t>(setup_.class_weights.size())
             ? setup_.class_weights[static_cast<size_t>(index)]
             : 1.0F;
}

double Stepper::DropoutFactor(int64_t step) const {
  return static_cast<double>(ScheduledValue(setup_.fit.dropout_schedule, 1.0, step));
}

double Stepper::WeightedSum(const float* losses, int64_t n) const {
  double sum = 0.0;
  if (setup_.class_weights.empty()) {
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(losses[i]);
    return sum;
  }
  for (int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(losses[i]) *
           static_cast<double>(WeightOf(classes_[static_cast<size_t>(i)]));
  }
  return sum;
}

}  // namespace hopper
