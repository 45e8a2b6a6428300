// Sequential SGD written down plainly: what a run must equal, bit for bit. Nothing of engine/,
// schedule/ or train/ is used: batches, layers, losses and update rules are put together by hand,
// from autograd or from the planned forms of the model and its loss.
#pragma once

#include <string>

#include "support/packed_table.h"
#include "support/run_driver.h"

namespace hopper {

// The state image's digest after `iterations` from the start.
std::string SequentialDigest(const Configuration& config, const RunOptions& options,
                             const PackedTable& train, const std::string& numerics_class,
                             bool planned);

}  // namespace hopper
