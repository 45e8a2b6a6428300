#include "train/backend.h"

#include <algorithm>

#include "base/error.h"
#include "train/stepper.h"

namespace hopper {

std::unique_ptr<Stepper> TrainingBackend::MakeAutogradStepper(const StepperSetup& /*setup*/,
                                                              ModelState* /*state*/) const {
  throw Error(ErrorCode::kInternal, "autograd takes libtorch");
}

std::string TrainingBackend::Numerics() const { return ""; }

bool NeedsTorch(const CompileParams& compile, const std::shared_ptr<const ModelSpec>& spec,
                const DataDesc& /*data*/) {
  const auto is_expression = [](const auto& of) { return of.expression != nullptr; };
  const auto of_loss = [&](const OutputLoss& loss) { return is_expression(loss.options); };
  const auto of_metric = [&](const MetricParams& metric) {
    return is_expression(metric.loss_options);
  };
  return UnplannedLayer(spec, /*training=*/true) != nullptr ||
         is_expression(compile.loss_options) ||
         std::any_of(compile.losses.begin(), compile.losses.end(), of_loss) ||
         std::any_of(compile.metrics.begin(), compile.metrics.end(), of_metric);
}

}  // namespace hopper
