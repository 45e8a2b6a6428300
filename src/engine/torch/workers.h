// What compute threads need for libtorch: one intra-op thread each, tensors in their blocks, and
// libtorch's warnings captured.
#pragma once

#include "base/workers.h"

namespace hopper {

// Keeps libtorch's own threads, and its BLAS', out of what the calling thread computes: they spin
// where others have their processors, and numbers would depend on how many there are.
void WorkAlone();

WorkerSetting TorchSetting(const WorkerNeeds& needs);

}  // namespace hopper
