// Where the time of a run went.
#pragma once

#include <cstdint>

#include "schedule/course.h"

namespace hopper {

enum class VisitKind : int32_t { kTrain = 1, kEvaluate = 2 };

// One stay of one model with neighbouring partitions. Seconds.
struct VisitRecord {
  int32_t mst_key = 0;
  int32_t iteration = 0;  // counted over warm starts, from 1
  VisitKind kind = VisitKind::kTrain;
  int32_t split = kTrainSplit;
  int32_t worker = 0;  // from 0; the key of the segment in a group
  int32_t hop = 0;     // group: starts since the iteration began; else 0
  int32_t first_partition = 0;
  int32_t n_partitions = 0;  // the first one follows the last one
  double started = 0.0;      // since the start
  double read = 0.0;         // partitions were brought into memory
  double wait = 0.0;         // ready, but no worker was free
  double hopping = 0.0;      // between workers or processes: the hop
  double train = 0.0;
  double evaluate = 0.0;
  int64_t bytes_written = 0;  // by the hop, to disk
};

}  // namespace hopper
