// How long a run will take and how much of the workers' time is idle: the engines' schedules,
// played through with given costs instead of training. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "schedule/course.h"
#include "schedule/ring.h"

namespace hopper {

// Seconds that one worker needs.
struct ModelCost {
  int key = 1;              // mst_key, which decides where it starts
  double visit = 0.0;       // training on one partition
  double evaluation = 0.0;  // evaluating one partition of the training data
  double validation = 0.0;  // the same of the validation data
  double hop = 0.0;         // segments engine: moving the state once, beside the statement
  // Of what is kept for all later ones, and is beside the others the first time.
  double first_visit = 0.0;       // of each partition, in the first iteration
  double first_validation = 0.0;  // of each partition of the validation data
  // Local engine: tasks small enough to be taken at once, TasksTogether().
  int visits_together = 1;
  std::array<int, 2> evaluations_together = {1, 1};  // by split
  Watching watching;                                 // no model is taken to stop early
};

// Seconds; all but the first are sums over workers and add up to seconds * workers.
struct Forecast {
  double seconds = 0.0;
  double train = 0.0;
  double evaluate = 0.0;
  double hop = 0.0;
  double idle = 0.0;

  double IdleShare(int workers) const { return seconds > 0.0 ? idle / (seconds * workers) : 0.0; }
};

// The local engine: a free worker takes the next task of the model with the most work left; no
// barrier. `hop` is a worker's time from what it takes at once to the next. Long runs are played
// for their first iterations and continued at the pace that their work allows. The time for it
// grows as models times partitions. `cancel` may be null; once it is set, an empty forecast comes
// back.
Forecast ForecastLocal(const Ring& ring, const std::vector<ModelCost>& models,
                       const RunRules& rules, int workers, double hop,
                       const std::atomic<bool>* cancel = nullptr);

// The least time in which so many workers do what keeps one of them busy for `busy` seconds; the
// longest part of it is one worker's.
inline double SharedOut(double busy, int workers, double longest) {
  return std::max(busy / std::max(workers, 1), longest);
}

// A run on segments.
struct SegmentPlaces {
  SegmentKeys keys;
  int workers = 1;  // of each segment
  // Each segment has all data: models stay where they are dealt to, and a statement begins
  // iterations for so many seconds. 0: models move.
  double patience = 0.0;
};

// The segments engine: every statement moves all models at once and ends with the slowest segment.
// `statement` is what one takes beside training and moving states. The workers are those of all
// segments with training data.
Forecast ForecastSegments(const Ring& ring, const std::vector<ModelCost>& models,
                          const RunRules& rules, const SegmentPlaces& places, double statement,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace hopper
