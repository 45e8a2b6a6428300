#include "engine/torch/backend.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <utility>

#include "engine/torch/failure.h"
#include "engine/torch/workers.h"
#include "model/network/network.h"
#include "train/stepper.h"

namespace hopper {

std::shared_ptr<const PlannedNetwork> TorchBackend::MakeNetwork(
    std::shared_ptr<const ModelSpec> spec) const {
  return std::make_shared<const Network>(std::move(spec));
}

WorkerSetting TorchBackend::Setting(const WorkerNeeds& needs) const { return TorchSetting(needs); }

Problem TorchBackend::Describe() const noexcept { return DescribeException(); }

std::unique_ptr<Stepper> TorchBackend::MakeAutogradStepper(const StepperSetup& setup,
                                                           ModelState* state) const {
  return hopper::MakeAutogradStepper(setup, state);
}

std::string TorchBackend::Numerics() const {
  return "torch " TORCH_VERSION ", " + at::get_cpu_capability();
}

}  // namespace hopper
