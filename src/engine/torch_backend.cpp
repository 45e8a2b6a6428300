#include "engine/torch_backend.h"

#include <utility>

#include "engine/failure.h"
#include "engine/torch_workers.h"
#include "model/network/network.h"

namespace hopper {

std::shared_ptr<const PlannedNetwork> TorchBackend::MakeNetwork(
    std::shared_ptr<const ModelSpec> spec) const {
  return std::make_shared<const Network>(std::move(spec));
}

WorkerSetting TorchBackend::Setting(MemoryAccount* account) const { return TorchSetting(account); }

Problem TorchBackend::Describe() const noexcept { return DescribeException(); }

}  // namespace hopper
