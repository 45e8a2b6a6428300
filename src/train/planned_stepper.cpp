#include <cmath>

#include "base/bf16.h"
#include "base/pieces.h"
#include "optim/gradient_rows.h"
#include "train/backend.h"
#include "train/plan_cache.h"
#include "train/stepper.h"
#include "train/sums.h"

namespace hopper {

namespace {

PlanKind TrainingKind(const StepperSetup& setup) {
  PlanKind kind;
  kind.network = setup.network;
  kind.options.batch = setup.capacity;
  kind.options.training = true;
  kind.options.linear = setup.objective->linear;
  kind.options.seed = setup.seed;
  kind.options.precision = setup.precision;
  kind.objective = setup.objective;
  kind.loss_text = setup.loss_text;
  kind.backend = &setup.backend;
  return kind;
}

// A step of the plan, which others take over in whatever state it ends: one that a loss or an error
// ends before its backward pass would keep what autograd holds, beside that of the next step.
class PlanStep {
 public:
  explicit PlanStep(StepPlan* plan) : plan_(plan) {}
  ~PlanStep() { plan_->Release(); }
  PlanStep(const PlanStep&) = delete;
  PlanStep& operator=(const PlanStep&) = delete;

 private:
  StepPlan* plan_;
};

class PlannedStepper : public Stepper {
 public:
  explicit PlannedStepper(const StepperSetup& setup)
      : Stepper(setup),
        plans_(TrainingKind(setup)),
        by_rows_(TakesRows(setup.compile.optimizer, setup.spans)) {}

  bool Run(ModelState* state, const Partition& data, const int32_t* rows, int64_t n, bool metrics,
           MetricSums* sums) override {
    Load(data, rows, n);
    LossPlan& plan = plans_->For(n);
    const PlanStep held(&plan.plan);
    StepArguments step;
    step.params = state->params.data();
    step.gradients = plans_->gradients().data();
    step.step = state->step;
    step.dropout_factor = DropoutFactor(state->step);
    if (plan.plan.reads_shadow()) step.shadow = Shadow(state->params);
    double penalty = PenaltySum(RegularizationLoss(setup_.spans, step.params), n);
    step.penalty = &penalty;
    plan.plan.SetInput(batch_.input());
    plan.plan.Forward(step);
    float* gradient = plan.plan.output_gradient();
    const float* output = plan.plan.output();
    plan.loss.Run(output, batch_.targets(), factors(), gradient);
    const double sum = WeightedSum(plan.loss.losses(), n) + penalty;
    sums->loss += sum;
    sums->examples += n;
    if (!std::isfinite(sum)) return false;
    if (metrics) AddMetrics(setup_.compile, spec_, plan.loss, sums);
    if (gradient != nullptr) {
      rows_.Clear();
      const GradientRowsScope rows(by_rows_ ? &rows_ : nullptr);
      plan.plan.Backward(step);
      ApplyOptimizer(setup_.compile.optimizer, state->step, setup_.spans, state->params.data(),
                     plans_->gradients().data(), state->slots.data(), spec_.slot_size,
                     shadow_.data(), Team::Current());
    }
    ++state->step;
    state->examples += n;
    return true;
  }

 private:
  // The weights in bf16: rounded at the first step that reads them, written by the optimizer from
  // then on.
  const uint16_t* Shadow(const AlignedArray<float>& params) {
    if (shadow_.size() != params.size()) {
      shadow_ = AlignedArray<uint16_t>(params.size());
      InPieces(params.size(), sizeof(float), [&](size_t first, size_t count) {
        for (size_t i = first; i < first + count; ++i) shadow_[i] = ToBf16(params[i]);
      });
    }
    return shadow_.data();
  }

  PlanLease plans_;
  const bool by_rows_;  // tables' gradients
  GradientRows rows_;
  AlignedArray<uint16_t> shadow_;
};

}  // namespace

std::unique_ptr<Stepper> MakePlannedStepper(const StepperSetup& setup) {
  return std::make_unique<PlannedStepper>(setup);
}

}  // namespace hopper
