// What a batch is compared with.
#pragma once

#include <cstdint>

namespace hopper {

// Exactly one of the two is there.
struct Targets {
  const int64_t* classes = nullptr;  // [batch]: class indexes
  const float* values = nullptr;     // [batch, size]: one-hot, soft labels or numbers
  int64_t size = 1;                  // of an example's values
  int64_t num_classes = 0;
};

}  // namespace hopper
