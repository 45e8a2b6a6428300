// Columns at right angles to each other.
#pragma once

#include <atomic>

#include "base/matrix_blocks.h"

namespace hopper {

// The QR decomposition of *matrix, which has no more columns than rows: *matrix then holds R on and
// above its diagonal, *q the first columns of Q. Looks at `cancel` about every 0.1 s: false where
// that ended it.
bool OrthogonalColumns(const std::atomic<bool>& cancel, Eigen::MatrixXd* matrix,
                       Eigen::MatrixXd* q);

}  // namespace hopper
