#include "engine/torch_backend.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <utility>

#include "engine/failure.h"
#include "engine/torch_workers.h"
#include "model/network/network.h"
#include "train/stepper.h"

namespace hopper {

std::shared_ptr<const PlannedNetwork> TorchBackend::MakeNetwork(
    std::shared_ptr<const ModelSpec> spec) const {
  return std::make_shared<const Network>(std::move(spec));
}

WorkerSetting TorchBackend::Setting(MemoryAccount* account) const { return TorchSetting(account); }

Problem TorchBackend::Describe() const noexcept { return DescribeException(); }

std::unique_ptr<Stepper> TorchBackend::MakeAutogradStepper(const StepperSetup& setup,
                                                           ModelState* state) const {
  return hopper::MakeAutogradStepper(setup, state);
}

std::string TorchBackend::Numerics() const {
  return "torch " TORCH_VERSION ", " + at::get_cpu_capability();
}

}  // namespace hopper
