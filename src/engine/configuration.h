// One configuration as text -> a trainer.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "model_hopper/core_api.h"
#include "train/trainer.h"

namespace hopper {

// Throws the first problem of the architecture or the parameters; warnings are for check_configs.
std::unique_ptr<const Trainer> MakeTrainer(const hopper_config& config, const DataDesc& data,
                                           uint64_t run_seed);

}  // namespace hopper
