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
  // into `gradient` (as large as `output`; null: not wanted). What has no loop here goes through
  // LossPerExample() and autograd. Throws kDataException for a class that the output lacks.
  void Run(const float* output, const Targets& targets, const float* factors, float* gradient);
  const float* losses() const { return losses_.data(); }

 private:
  bool RunPlanned(const float* output, const Targets& targets, const float* factors,
                  float* gradient);
  void RunAutograd(const float* output, const Targets& targets, const float* factors,
                   float* gradient);
  void Crossentropy(const float* output, const Targets& targets, const float* factors,
                    float* gradient);
  // One number for each output, or null where only a class is known.
  const float* Numbers(const Targets& targets);

  const LossKind loss_;
  const LossOptions options_;
  const bool logits_;
  const Activation last_;
  const int64_t batch_;
  const int64_t width_;  // outputs of an example
  const Shape shape_;
  const Kernels& kernels_;
  AlignedArray<float> losses_;
  AlignedArray<float> probabilities_;  // and other scratch, as large as the output
  AlignedArray<float> scratch_;        // as large as the output
  AlignedArray<float> numbers_;        // classes as numbers
};

}  // namespace hopper
