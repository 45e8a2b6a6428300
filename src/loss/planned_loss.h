// A loss and its gradient on the raw output of a planned step.
#pragma once

#include <cstdint>

#include "base/aligned.h"
#include "kernels/kernels.h"
#include "loss/loss.h"
#include "model/shape.h"

namespace hopper {

// For one batch size. Used by one thread at a time.
class PlannedLoss {
 public:
  // `shape` is the output's, of one example.
  PlannedLoss(LossKind loss, const LossOptions& options, bool logits, Activation last,
              int64_t batch, const Shape& shape, const Kernels& kernels);

  // Loss of each example into losses(), and factors[i] times its gradient by example i's output
  // into `gradient` (as large as `output`; null: not wanted). What has no loop here, expressions
  // and Dice and Tversky over some of the axes, goes through LossPerExample() and autograd. Throws
  // kDataException for a class that the output lacks.
  void Run(const float* output, const Targets& targets, const float* factors, float* gradient);
  const float* losses() const { return losses_.data(); }
  // Whether the latest Run() went through autograd.
  bool used_autograd() const { return used_autograd_; }

 private:
  bool RunByKernels(const float* output, const Targets& targets, const float* factors,
                    float* gradient);
  void RunAutograd(const float* output, const Targets& targets, const float* factors,
                   float* gradient);
  bool RunRows(const float* output, const Targets& targets, const float* factors, float* gradient);
  bool RunOverlap(const float* output, const Targets& targets, const float* factors,
                  float* gradient);
  // One number for each output, or null where only a class is known.
  const float* Numbers(const Targets& targets);
  // Labels, classes as one-hot rows, smoothed and made -1 and 1 as the loss wants it; null
  // where the targets have another shape.
  const float* Labels(const Targets& targets);

  const LossKind loss_;
  const LossOptions options_;
  const bool logits_;
  const Activation last_;
  const int64_t batch_;
  const int64_t width_;    // outputs of an example
  const int64_t columns_;  // of the last axis
  const Shape shape_;
  const Kernels& kernels_;
  AlignedArray<float> losses_;
  AlignedArray<float> probabilities_;  // and other scratch, as large as the output
  AlignedArray<float> scratch_;        // as large as the output
  AlignedArray<float> numbers_;        // classes as numbers
  AlignedArray<float> labels_;         // as large as the output, once it is needed
  bool used_autograd_ = false;
};

}  // namespace hopper
