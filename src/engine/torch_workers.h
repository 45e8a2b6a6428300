// What compute threads need for libtorch: one intra-op thread each, tensors in their blocks, and
// libtorch's warnings captured.
#pragma once

#include <functional>
#include <string>

#include "base/workers.h"

namespace hopper {

// Takes the text of each warning that libtorch has for the user; called on any worker.
using WarningSink = std::function<void(const std::string&)>;

// Keeps libtorch's own threads, and its BLAS', out of what the calling thread computes: they spin
// where others have their processors, and numbers would depend on how many there are.
void WorkAlone();

// `promises`: each task of a body says what it was promised, as MemoryScope wants to know.
WorkerSetting TorchSetting(MemoryAccount* account, WarningSink warn = {}, int team_size = 1,
                           bool promises = false);

}  // namespace hopper
