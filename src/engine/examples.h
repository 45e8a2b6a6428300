// Made-up examples, to time steps with.
#pragma once

#include "data/dataset.h"

namespace hopper {

// `n` examples of the types and shapes of `desc`: features from 0 to 1 (integers: to 255, or what
// their type holds), classes in turn, single values from 0 to 1, arrays one-hot.
Partition MakeExamples(const DataDesc& desc, int64_t n);

}  // namespace hopper
