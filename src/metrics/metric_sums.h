// How the sums of metrics/accumulate.h lie: shared by what adds them and what reads them.
#pragma once

#include <cstdint>

namespace hopper {

// Confusion counts: of all outputs, or of each class one after another.
constexpr int64_t kTp = 0, kFp = 1, kFn = 2, kCounts = 3;

// A single output stands for two classes.
inline int64_t ClassCount(int64_t width) { return width == 1 ? 2 : width; }

}  // namespace hopper
