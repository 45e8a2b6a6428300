// How it stands with a model of a run.
#pragma once

#include <cstdint>

namespace hopper {

enum class ModelStatus : int32_t { kTraining = 0, kDone = 1, kFailed = 2 };

}  // namespace hopper
