// A model's losses and their gradient on the raw output of a planned step.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "loss/objective.h"
#include "loss/part_rows.h"
#include "loss/planned_loss.h"

namespace hopper {

// For one batch size; used by one thread at a time.
class PlannedObjective {
 public:
  // `kernels` and `backend` outlive it.
  PlannedObjective(const Objective& objective, int64_t batch, const Kernels& kernels,
                   const LossBackend& backend);

  // As PlannedLoss::Run().
  void Run(const float* output, const Targets& targets, const float* factors, float* gradient);
  const float* losses() const { return objective_.plain ? parts_[0]->losses() : losses_.data(); }
  int64_t batch() const { return batch_; }
  const Objective& objective() const { return objective_; }
  const Kernels& kernels() const { return kernels_; }
  const LossBackend& backend() const { return backend_; }
  // Of the latest Run(): a part's output in C order, its labels, and its losses before they were
  // weighed by output.
  const float* output(size_t part) const {
    return objective_.plain ? output_ : outputs_[part].data();
  }
  const Targets& targets(size_t part) const { return targets_[part]; }
  const float* losses(size_t part) const { return part_losses_[part].data(); }
  StepMask mask(size_t part) const;
  // The examples' weights; null where they have none.
  const float* weights() const { return weights_.empty() ? nullptr : weights_.data(); }

 private:
  // A part whose rows count or not: factors_ and gradient_ as of the others.
  void RunRows(size_t part, bool gradient);
  // A part of members, alike.
  void RunMembers(size_t part, bool gradient);

  const Objective objective_;
  const int64_t batch_;
  const Kernels& kernels_;
  const LossBackend& backend_;
  std::vector<std::unique_ptr<PlannedLoss>> parts_;
  const float* output_ = nullptr;
  std::vector<Targets> targets_;
  std::vector<LabelRoom> labels_;
  std::vector<float> weights_;
  std::vector<AlignedArray<float>> outputs_;
  std::vector<AlignedArray<float>> part_losses_;
  AlignedArray<float> gradient_;  // as large as the largest part's output
  AlignedArray<float> factors_;
  AlignedArray<float> losses_;
  AlignedArray<float> row_factors_;  // of the largest part by rows or members
  AlignedArray<float> members_;      // of the largest part
};

}  // namespace hopper
