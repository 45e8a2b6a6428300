#include "engine/torch/backend.h"

#include "engine/torch/failure.h"
#include "engine/torch/workers.h"

namespace hopper {

WorkerSetting TorchBackend::Setting(const WorkerNeeds& needs) const { return TorchSetting(needs); }

Problem TorchBackend::Describe() const noexcept { return DescribeException(); }

}  // namespace hopper
