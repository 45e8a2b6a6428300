// Evaluation with fixed weights.
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "loss/loss.h"
#include "metrics/accumulate.h"
#include "model/planned/plan_memory.h"
#include "model/planned/step_plan.h"
#include "train/batch_tensors.h"
#include "train/plan_cache.h"
#include "train/stepper.h"
#include "train/sums.h"
#include "train/trainer.h"

namespace hopper {

VisitEnd Trainer::Evaluate(const float* flat, const Partition& data,
                           const std::atomic<bool>& cancel, MetricSums* sums,
                           const std::optional<Digest>& frozen) const {
  if (data.n == 0) return VisitEnd::kDone;
  if (head_ != nullptr) {
    const FeatureStore::Features features = FeaturesOf(flat, frozen, data, cancel);
    if (features == nullptr) return VisitEnd::kCancelled;
    return head_->Evaluate(flat, *features, cancel, sums);
  }
  const c10::InferenceMode inference;
  const ModelSpec& spec = network_->spec();
  const bool planned = PlannedStepsAreUsed();
  // The weights are only read: nothing trains in this mode.
  std::vector<at::Tensor> weights;
  if (!planned) weights = network_->BindWeights(const_cast<float*>(flat));
  const int64_t capacity = std::min(EvaluationBatch(spec), data.n);
  BatchTensors batch(data_, spec.input_shape(), spec.output_shape(), capacity);
  std::vector<int32_t> rows(static_cast<size_t>(capacity));
  ForwardContext context;
  context.seed = seed_;
  context.linear = objective_->linear;
  PlanKind kind;
  kind.network = network_;
  kind.options.batch = capacity;
  kind.options.linear = objective_->linear;
  kind.objective = objective_;
  kind.loss_text = loss_text_;
  const PlanLease plans(std::move(kind));
  StepArguments step;
  step.params = const_cast<float*>(flat);
  const double of_weights = RegularizationLoss(spans_, flat);

  for (size_t b = 0; b < data.buffer_starts.size(); ++b) {
    const int64_t end = b + 1 < data.buffer_starts.size() ? data.buffer_starts[b + 1] : data.n;
    MetricSums buffer;
    for (int64_t first = data.buffer_starts[b]; first < end; first += capacity) {
      if (cancel.load(std::memory_order_relaxed)) return VisitEnd::kCancelled;
      const int64_t n = std::min(capacity, end - first);
      std::iota(rows.begin(), rows.begin() + n, static_cast<int32_t>(first));
      batch.Load(data, rows.data(), n);
      buffer.examples += n;
      if (planned) {
        LossPlan& plan = plans->For(n);
        double penalty = PenaltySum(of_weights, n);
        step.penalty = &penalty;
        plan.plan.SetInput(batch.input().const_data_ptr<float>());
        plan.plan.Forward(step);
        plan.loss.Run(plan.plan.output(), batch.targets(), nullptr, nullptr);
        const float* losses = plan.loss.losses();
        double sum = 0.0;
        for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(losses[i]);
        buffer.loss += sum + penalty;
        AddPlannedMetrics(compile_, spec, *objective_, plan.loss, n, &buffer);
        continue;
      }
      std::vector<at::Tensor> penalties;
      context.penalties = &penalties;
      const at::Tensor output = network_->Forward(batch.input(), weights, context);
      buffer.loss += PenaltySum(of_weights, n);
      for (const at::Tensor& penalty : penalties) buffer.loss += penalty.item<double>();
      buffer.loss += SumOf(LossPerExample(*objective_, output, batch.targets()));
      AddMetrics(compile_, spec, *objective_, output, batch.targets(), &buffer);
    }
    sums->Add(buffer);
  }
  return VisitEnd::kDone;
}

}  // namespace hopper
