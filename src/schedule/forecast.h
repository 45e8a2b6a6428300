// How long a run will take and how much of the workers' time is idle: the engines' schedules,
// played through with given costs instead of training. Pure functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "schedule/ring.h"

namespace hopper {

// Seconds that one worker needs.
struct ModelCost {
  int key = 1;              // mst_key, which decides where it starts
  double visit = 0.0;       // training on one partition
  double evaluation = 0.0;  // evaluating one partition of the training data
  double validation = 0.0;  // the same of the validation data
  double hop = 0.0;         // segments engine: moving the state once, beside the statement
};

struct RunShape {
  int num_iterations = 1;
  int metrics_frequency = 1;
  int training_metrics = 2;       // hopper_training_metrics
  int validation_partitions = 0;  // 0: no validation

  bool IsMetricsIteration(int iteration) const {
    return iteration == num_iterations || iteration % metrics_frequency == 0;
  }
  // Whether the weights are evaluated on the training data after this iteration, from 1.
  bool EvaluatesTraining(int iteration) const;
  bool EvaluatesValidation(int iteration) const {
    return validation_partitions > 0 && IsMetricsIteration(iteration);
  }
  // How many of the iterations after `iteration`, to the last one, do so.
  int MetricsIterations(int iteration) const {
    const bool extra = num_iterations % metrics_frequency != 0 && iteration < num_iterations;
    return num_iterations / metrics_frequency - iteration / metrics_frequency + (extra ? 1 : 0);
  }
  int TrainingEvaluations(int iteration) const;
  int ValidationEvaluations(int iteration) const {
    return validation_partitions > 0 ? MetricsIterations(iteration) : 0;
  }
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
// barrier. `hop` is a worker's time from one task to the next. Long runs are played for their first
// iterations and continued at the pace that their work allows. The time for it grows as models
// times partitions. `cancel` may be null; once it is set, an empty forecast comes back.
Forecast ForecastLocal(const Ring& ring, const std::vector<ModelCost>& models,
                       const RunShape& shape, int workers, double hop,
                       const std::atomic<bool>* cancel = nullptr);

// Where data lie in a run on segments: the key of each partition's segment.
struct SegmentPlaces {
  std::vector<int32_t> train_keys;
  std::vector<int32_t> valid_keys;  // empty without validation
  int workers = 1;                  // of each segment
};

// The segments engine: every statement moves all models at once and ends with the slowest segment.
// `statement` is what one takes beside training and moving states. The workers are those of all
// segments with training data.
Forecast ForecastSegments(const Ring& ring, const std::vector<ModelCost>& models,
                          const RunShape& shape, const SegmentPlaces& places, double statement,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace hopper
