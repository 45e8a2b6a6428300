// The kernels of every instruction set that this processor has.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/philox.h"
#include "kernels/kernels.h"

namespace hopper {

inline std::vector<const Kernels*> Sets() {
  std::vector<const Kernels*> sets = {BaselineKernels()};
  if (Avx2Kernels() != nullptr) sets.push_back(Avx2Kernels());
  if (Avx512Kernels() != nullptr) sets.push_back(Avx512Kernels());
  return sets;
}

inline std::vector<float> Random(size_t n, uint32_t stream, float low = -1.0F, float high = 1.0F) {
  const Philox random(5, Purpose::kSearch, stream, 0);
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = low + (high - low) * random.Uniform(i);
  return values;
}

class KernelSet : public testing::TestWithParam<const Kernels*> {};

}  // namespace hopper
