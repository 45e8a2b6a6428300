#include "train/backend.h"

#include <algorithm>

#include "base/error.h"
#include "loss/objective.h"
#include "loss/planned_loss.h"
#include "metrics/metric_sums.h"
#include "train/evaluator.h"
#include "train/stepper.h"

namespace hopper {
namespace {

bool HasLoop(const ObjectivePart& part) {
  const bool logits = part.members > 0 ? part.member_logits : part.logits;
  if (!part.by_row()) {
    return PlannedLoss::HasLoop(part.loss, part.options, logits, part.shape, part.classes,
                                part.label_size);
  }
  const bool classes = part.classes || (part.width() > 1 && part.label_size == part.rows());
  return PlannedLoss::HasLoop(part.loss, part.options, logits, {part.width()}, classes,
                              part.width());
}

}  // namespace

std::unique_ptr<Stepper> TrainingBackend::MakeAutogradStepper(const StepperSetup& /*setup*/,
                                                              ModelState* /*state*/) const {
  throw Error(ErrorCode::kInternal, "autograd takes libtorch");
}

std::unique_ptr<Evaluator> TrainingBackend::MakeAutogradEvaluator(
    const EvaluatorSetup& /*setup*/) const {
  throw Error(ErrorCode::kInternal, "autograd takes libtorch");
}

std::string TrainingBackend::Numerics() const { return ""; }

bool NeedsTorch(const CompileParams& compile, const std::shared_ptr<const ModelSpec>& spec,
                const DataDesc& data) {
  return UnplannedLayer(spec, /*training=*/true) != nullptr ||
         LossesNeedTorch(compile, *spec, MakeObjective(compile, *spec, data, /*training=*/false),
                         MakeObjective(compile, *spec, data, /*training=*/true));
}

bool LossesNeedTorch(const CompileParams& compile, const ModelSpec& spec,
                     const Objective& objective, const Objective& training_objective) {
  for (const Objective* each : {&objective, &training_objective}) {
    if (!std::all_of(each->parts.begin(), each->parts.end(), HasLoop)) return true;
  }
  return !std::all_of(compile.metrics.begin(), compile.metrics.end(),
                      [&](const MetricParams& metric) {
                        const auto part = static_cast<size_t>(metric.part);
                        return MetricHasLoop(metric, spec.outputs[part].shape);
                      });
}

}  // namespace hopper
