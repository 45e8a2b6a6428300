// Loss and metrics of one batch after the other, with fixed weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loss/objective.h"
#include "model/planned/planned_network.h"
#include "optim/optimizer.h"
#include "params/params.h"
#include "train/loaded_batch.h"
#include "train/metric_sums.h"

namespace hopper {

class TrainingBackend;

// What an evaluation hands to its evaluator; all of it outlives that.
struct EvaluatorSetup {
  const std::shared_ptr<const PlannedNetwork>& network;
  const TrainingBackend& backend;
  const CompileParams& compile;
  const std::vector<TrainableSpan>& spans;
  const std::string& loss_text;  // LossText()
  const std::shared_ptr<const Objective>& objective;
  uint64_t seed;
  int64_t capacity;  // examples in the largest batch
  float* flat;       // the weights, which are only read
};

// Lives on one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Of the batch, but the number of its examples.
  virtual void Add(const LoadedBatch& batch, MetricSums* sums) = 0;
};

}  // namespace hopper
