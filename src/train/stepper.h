// One optimizer step after another over the batches of a visit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "data/dataset.h"
#include "loss/objective.h"
#include "model/planned/planned_network.h"
#include "optim/optimizer.h"
#include "params/params.h"
#include "params/precision.h"
#include "state/state.h"
#include "train/loaded_batch.h"
#include "train/metric_sums.h"

namespace hopper {

class TrainingBackend;

// What a visit hands to its stepper; all of it outlives the stepper.
struct StepperSetup {
  const std::shared_ptr<const PlannedNetwork>& network;
  const TrainingBackend& backend;
  const CompileParams& compile;
  const DataDesc& data;
  const std::vector<TrainableSpan>& spans;
  const std::vector<float>& class_weights;  // empty: all 1
  const std::string& loss_text;             // LossText()
  const std::shared_ptr<const Objective>& objective;
  uint64_t seed;
  int64_t capacity;  // examples in the largest batch
  Precision precision;
  const FitParams& fit;
};

// Lives on one thread.
class Stepper {
 public:
  explicit Stepper(const StepperSetup& setup);
  virtual ~Stepper() = default;

  // One step of `state`, which is the same one in each call; false where the loss is not finite.
  virtual bool Run(ModelState* state, const Partition& data, const int32_t* rows, int64_t n,
                   bool metrics, MetricSums* sums) = 0;

 protected:
  // Loads the batch, and what the mean's gradient by each example's loss is into factors().
  void Load(const Partition& data, const int32_t* rows, int64_t n);
  float* factors() { return factors_.data(); }
  // What dropout rates are multiplied with in the step after `step` others.
  double DropoutFactor(int64_t step) const;
  // Sum of n losses weighted by class.
  double WeightedSum(const float* losses, int64_t n) const;

  StepperSetup setup_;
  const ModelSpec& spec_;
  LoadedBatch batch_;

 private:
  float WeightOf(int64_t index) const;
  AlignedArray<float> factors_;
  std::vector<int64_t> classes_;
  int64_t size_ = 0;
};

// Through a StepPlan; TrainingBackend::MakeAutogradStepper() makes what that is tested against.
std::unique_ptr<Stepper> MakePlannedStepper(const StepperSetup& setup);

}  // namespace hopper
