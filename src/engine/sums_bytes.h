// The sums of metrics as bytes: they travel with models and between processes.
#pragma once

#include "base/bytes.h"
#include "train/metric_sums.h"

namespace hopper {

void PutSums(const MetricSums& sums, ByteWriter* out);
// Throws kCorrupt where the bytes end too early.
MetricSums GetSums(ByteReader* in);

}  // namespace hopper
