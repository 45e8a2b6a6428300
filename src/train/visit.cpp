// Training over one partition.
#include <algorithm>
#include <utility>

#include "base/finite.h"
#include "model/planned/step_plan.h"
#include "train/backend.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {

namespace {

// The order of a pass, shared with other models where the partition lets it; null: cancelled.
BatchOrders::Order OrderOf(const Partition& data, uint64_t seed, int partition, int64_t pass,
                           bool shuffle, const std::atomic<bool>& cancel) {
  if (data.orders != nullptr) {
    return data.orders->Get(seed, partition, pass, data.n, shuffle, cancel);
  }
  std::vector<int32_t> order = BatchOrder(seed, partition, pass, data.n, shuffle, &cancel);
  if (order.empty()) return nullptr;
  return std::make_shared<const std::vector<int32_t>>(std::move(order));
}

}  // namespace

VisitEnd Trainer::Visit(ModelState* state, const Partition& data, int partition,
                        const std::atomic<bool>& cancel, MetricSums* sums, bool metrics) const {
  if (data.n == 0) return VisitEnd::kDone;
  if (head_ != nullptr) {
    const FeatureStore::Features features =
        FeaturesOf(state->params.data(), FrozenOf(state), data, cancel);
    if (features == nullptr) return VisitEnd::kCancelled;
    return head_->Visit(state, *features, partition, cancel, sums, metrics);
  }
  const int64_t capacity = std::min(fit_.batch_size, data.n);
  CompileParams reduced;
  if (state->monitor.reduced) {
    reduced = compile_;
    reduced.optimizer.learning_rate = static_cast<double>(state->monitor.learning_rate);
  }
  const CompileParams& compile = state->monitor.reduced ? reduced : compile_;
  const StepperSetup setup{network_, backend_,       compile,    data_,
                           spans_,   class_weights_, loss_text_, training_objective_,
                           seed_,    capacity,       precision_, fit_};
  const bool planned = PlannedStepsAreUsed() || precision_ != Precision::kFp32;
  const std::unique_ptr<Stepper> stepper =
      planned ? MakePlannedStepper(setup) : backend_.MakeAutogradStepper(setup, state);
  for (int64_t epoch = 0; epoch < fit_.epochs; ++epoch) {
    const int64_t pass = state->iteration * fit_.epochs + epoch;
    const BatchOrders::Order order = OrderOf(data, seed_, partition, pass, fit_.shuffle, cancel);
    if (order == nullptr) return VisitEnd::kCancelled;
    for (int64_t first = 0; first < data.n; first += capacity) {
      if (cancel.load(std::memory_order_relaxed)) return VisitEnd::kCancelled;
      const int64_t n = std::min(capacity, data.n - first);
      if (!stepper->Run(state, data, order->data() + first, n, metrics, sums)) {
        return VisitEnd::kNotFinite;
      }
    }
  }
  for (const auto& [first, n] : changing_) {
    if (FirstNotFinite(state->params.data() + first, n) < n) return VisitEnd::kNotFinite;
  }
  return VisitEnd::kDone;
}

}  // namespace hopper
