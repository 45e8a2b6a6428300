// The plans of one architecture and loss for batches of different sizes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/aligned.h"
#include "loss/planned_objective.h"
#include "model/planned/step_plan.h"

namespace hopper {

// A plan with the loss that follows it.
struct LossPlan {
  StepPlan plan;
  PlannedObjective loss;
  LossPlan(const PlannedNetwork& network, const PlanOptions& options, const Objective& objective,
           const LossBackend& backend);
};

// What plans are made for: equal kinds have equal plans. Configurations of one architecture and
// loss share them whatever their optimizers.
struct PlanKind {
  std::shared_ptr<const PlannedNetwork> network;
  PlanOptions options;  // `batch` is the size of a full batch
  std::shared_ptr<const Objective> objective;
  std::string loss_text;  // equal for equal ones
  const LossBackend* backend = nullptr;
};
bool operator==(const PlanKind& a, const PlanKind& b);
size_t HashOf(const PlanKind& kind);

// Makes plans when they are first needed and keeps two: the one of a full batch and the one of
// the latest other size. Holds nothing of a model: the weights come with each step.
class PlanSet {
 public:
  explicit PlanSet(PlanKind kind);

  const PlanKind& kind() const { return kind_; }
  LossPlan& For(int64_t n);
  // Where training collects gradients, spec().flat_size floats.
  AlignedArray<float>& gradients() { return gradients_; }
  // What it all takes, about.
  int64_t bytes() const;

 private:
  const PlanKind kind_;
  AlignedArray<float> gradients_;
  std::unique_ptr<LossPlan> full_;
  std::unique_ptr<LossPlan> other_;
  int64_t other_size_ = 0;
};

}  // namespace hopper
