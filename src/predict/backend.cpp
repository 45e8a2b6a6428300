#include "predict/backend.h"

#include <utility>

#include "model/planned/plan_memory.h"
#include "model/planned/step_plan.h"

namespace hopper {

std::shared_ptr<const PlannedNetwork> PredictionBackend::MakeNetwork(
    std::shared_ptr<const ModelSpec> spec) const {
  return std::make_shared<const PlannedNetwork>(std::move(spec));
}

WorkerSetting PredictionBackend::Setting(const WorkerNeeds& needs) const {
  return PlainSetting(needs);
}

Problem PredictionBackend::Describe() const noexcept { return InWords(DescribeCaught); }

namespace {

// Notes the layers that it is asked for.
class NotingNetwork : public PlannedNetwork {
 public:
  using PlannedNetwork::PlannedNetwork;
  std::unique_ptr<AutogradOp> MakeAutogradOp(int layer, PlanNode* node) const override {
    if (unplanned == nullptr) unplanned = spec().layers[static_cast<size_t>(layer)].get();
    return PlannedNetwork::MakeAutogradOp(layer, node);
  }
  mutable const Layer* unplanned = nullptr;
};

}  // namespace

const Layer* UnplannedLayer(const std::shared_ptr<const ModelSpec>& spec, bool training) {
  const NotingNetwork network(spec);
  PlanOptions options;
  options.measured_parts = 1;
  for (const int64_t batch : {int64_t{1}, EvaluationBatch(*spec)}) {
    for (const bool trains : {false, true}) {
      options.batch = batch;
      options.training = trains;
      if (training || !trains) StepPlan(network, options);
    }
  }
  return network.unplanned;
}

}  // namespace hopper
