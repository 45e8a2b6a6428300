// What a model makes of packed rows that lie in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "model/config_source.h"
#include "model/planned/planned_network.h"
#include "train/loaded_batch.h"

namespace hopper {

constexpr int64_t kHeldBatch = 1024;  // examples at a time

// [rows, outputs of an example], partition by partition. `config` has the weights; with `logits`
// the only output is left without its last softmax or sigmoid. Looks at cancel between batches.
std::vector<float> OutputsOf(const std::shared_ptr<const PlannedNetwork>& network,
                             const ConfigSource& config, const Dataset& data, bool logits);

// All rows, so many examples at a time, in the order of OutputsOf().
void ForEachHeldBatch(const Dataset& data,
                      const std::function<void(const LoadedBatch& batch)>& use);

// Throws kOutOfMemory where so many bytes of outputs are more than hopper.memory_limit.
void RequireOutputMemory(int64_t bytes, size_t models, int64_t memory_limit, const char* hint);

}  // namespace hopper
