// Included in the place of Eigen's headers of products whose bits somebody may compare: these are
// added up in blocks of the sums' length, by default as long as the processor's first cache is
// large.
#pragma once

#include <Eigen/Core>

namespace hopper {

// Before the first product of a library; what other processors have is the same then.
inline const bool kMatrixBlocksAreFixed = [] {
  Eigen::setCpuCacheSizes(32 << 10, 256 << 10, 2 << 20);
  return true;
}();

}  // namespace hopper
