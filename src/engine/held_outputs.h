// What a model makes of packed rows that lie in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "model/config_source.h"
#include "model/network/network.h"

namespace hopper {

constexpr int64_t kHeldBatch = 1024;  // examples at a time

// [rows, outputs of an example], partition by partition. `config` has the weights; with `logits`
// the only output is left without its last softmax or sigmoid. Looks at cancel between batches.
std::vector<float> OutputsOf(const std::shared_ptr<const Network>& network,
                             const ConfigSource& config, const Dataset& data, bool logits);

// Throws kOutOfMemory where so many bytes of outputs are more than hopper.memory_limit.
void RequireOutputMemory(int64_t bytes, size_t models, int64_t memory_limit, const char* hint);

}  // namespace hopper
