// Evaluation with fixed weights.
#include <algorithm>
#include <numeric>
#include <utility>

#include "model/planned/plan_memory.h"
#include "model/planned/step_plan.h"
#include "train/backend.h"
#include "train/evaluator.h"
#include "train/plan_cache.h"
#include "train/sums.h"
#include "train/trainer.h"

namespace hopper {

namespace {

class PlannedEvaluator : public Evaluator {
 public:
  explicit PlannedEvaluator(const EvaluatorSetup& setup)
      : setup_(setup),
        plans_(KindOf(setup)),
        of_weights_(RegularizationLoss(setup.spans, setup.flat)) {
    step_.params = setup.flat;
  }

  void Add(const LoadedBatch& batch, MetricSums* sums) override {
    const int64_t n = batch.size();
    LossPlan& plan = plans_->For(n);
    double penalty = PenaltySum(of_weights_, n);
    step_.penalty = &penalty;
    plan.plan.SetInput(batch.input());
    plan.plan.Forward(step_);
    plan.loss.Run(plan.plan.output(), batch.targets(), nullptr, nullptr);
    const float* losses = plan.loss.losses();
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(losses[i]);
    sums->loss += sum + penalty;
    AddMetrics(setup_.compile, setup_.network->spec(), plan.loss, sums);
  }

 private:
  static PlanKind KindOf(const EvaluatorSetup& setup) {
    PlanKind kind;
    kind.network = setup.network;
    kind.options.batch = setup.capacity;
    kind.options.linear = setup.objective->linear;
    kind.objective = setup.objective;
    kind.loss_text = setup.loss_text;
    kind.backend = &setup.backend;
    return kind;
  }

  const EvaluatorSetup setup_;
  const PlanLease plans_;
  const double of_weights_;
  StepArguments step_;
};

}  // namespace

VisitEnd Trainer::Evaluate(const float* flat, const Partition& data,
                           const std::atomic<bool>& cancel, MetricSums* sums,
                           const std::optional<Digest>& frozen) const {
  if (data.n == 0) return VisitEnd::kDone;
  if (head_ != nullptr) {
    const FeatureStore::Features features = FeaturesOf(flat, frozen, data, cancel);
    if (features == nullptr) return VisitEnd::kCancelled;
    return head_->Evaluate(flat, *features, cancel, sums);
  }
  const int64_t capacity = std::min(EvaluationBatch(network_->spec()), data.n);
  LoadedBatch batch(data_, capacity);
  std::vector<int32_t> rows(static_cast<size_t>(capacity));
  // The weights are only read: nothing trains in this mode.
  const EvaluatorSetup setup{network_, backend_,   compile_,
                             spans_,   loss_text_, objective_,
                             seed_,    capacity,   const_cast<float*>(flat)};
  std::unique_ptr<Evaluator> evaluator;
  if (PlannedStepsAreUsed()) {
    evaluator = std::make_unique<PlannedEvaluator>(setup);
  } else {
    evaluator = backend_.MakeAutogradEvaluator(setup);
  }
  for (size_t b = 0; b < data.buffer_starts.size(); ++b) {
    const int64_t end = b + 1 < data.buffer_starts.size() ? data.buffer_starts[b + 1] : data.n;
    MetricSums buffer;
    for (int64_t first = data.buffer_starts[b]; first < end; first += capacity) {
      if (cancel.load(std::memory_order_relaxed)) return VisitEnd::kCancelled;
      const int64_t n = std::min(capacity, end - first);
      std::iota(rows.begin(), rows.begin() + n, static_cast<int32_t>(first));
      batch.Load(data, rows.data(), n);
      buffer.examples += n;
      evaluator->Add(batch, &buffer);
    }
    sums->Add(buffer);
  }
  return VisitEnd::kDone;
}

}  // namespace hopper
