// Batch normalization over the last axis as a planned op.
#pragma once

#include <memory>

#include "model/planned_op.h"

namespace hopper {

struct NormSizes {
  bool scale = true;  // the node's weights: gamma and beta as there are, then the moving statistics
  bool center = true;
  bool batch_statistics = false;  // otherwise the moving ones
  double momentum = 0.0;
  double epsilon = 0.0;
};

std::unique_ptr<PlannedOp> MakePlannedBatchNorm(PlanNode* node, const NormSizes& sizes);

}  // namespace hopper
