#include "predict/backend.h"

#include <utility>

#include "model/planned/plan_memory.h"
#include "model/planned/step_plan.h"

namespace hopper {

std::shared_ptr<const PlannedNetwork> PredictionBackend::MakeNetwork(
    std::shared_ptr<const ModelSpec> spec) const {
  return std::make_shared<const PlannedNetwork>(std::move(spec));
}

WorkerSetting PredictionBackend::Setting(MemoryAccount* account) const {
  return PlainSetting(account);
}

Problem PredictionBackend::Describe() const noexcept { return InWords(DescribeCaught); }

bool IsPlanned(const std::shared_ptr<const ModelSpec>& spec) {
  const PlannedNetwork network(spec);
  PlanOptions options;
  options.measured_parts = 1;
  for (const int64_t batch : {int64_t{1}, EvaluationBatch(*spec)}) {
    options.batch = batch;
    if (StepPlan(network, options).autograd_nodes() > 0) return false;
  }
  return true;
}

}  // namespace hopper
