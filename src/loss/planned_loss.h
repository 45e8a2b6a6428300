// A loss and its gradient on the raw output of a planned step.
#pragma once

#include <cstdint>

#include "base/aligned.h"
#include "kernels/kernels.h"
#include "loss/loss_backend.h"
#include "loss/targets.h"
#include "model/shape.h"
#include "params/loss_type.h"

namespace hopper {

// For one batch size. Used by one thread at a time.
class PlannedLoss {
 public:
  // `shape` is the output's, of one example. `logits`: the output is the logits of what the model
  // ends in. `kernels` and `backend` outlive it.
  PlannedLoss(LossKind loss, const LossOptions& options, bool logits, int64_t batch,
              const Shape& shape, const Kernels& kernels, const LossBackend& backend);

  // Whether it has a loop for such outputs with classes, or so many labels an example, without a
  // backend. Expressions and Dice and Tversky over some of the axes have none.
  static bool HasLoop(LossKind loss, const LossOptions& options, bool logits, const Shape& shape,
                      bool classes, int64_t labels);

  // Loss of each example into losses(), and factors[i] times its gradient by example i's output
  // into `gradient` (as large as `output`; null: not wanted); where it has no loop by the backend.
  // Throws kDataException for a class that the output lacks.
  void Run(const float* output, const Targets& targets, const float* factors, float* gradient);
  const float* losses() const { return losses_.data(); }

 private:
  enum class Form { kLogitRows, kElements, kRows, kOverlap, kNone };
  static Form FormOf(LossKind loss, const LossOptions& options, bool logits, const Shape& shape,
                     bool classes, int64_t labels);
  void RunLogitRows(const float* output, const Targets& targets, const float* factors,
                    float* gradient);
  void RunElements(const float* output, const Targets& targets, const float* factors,
                   float* gradient);
  void RunRows(const float* output, const Targets& targets, const float* factors, float* gradient);
  void RunOverlap(const float* output, const Targets& targets, const float* factors,
                  float* gradient);
  // One number for each output; of a single one its class's.
  const float* Numbers(const Targets& targets);
  // Labels, classes as one-hot rows, smoothed and made -1 and 1 as the loss wants it.
  const float* Labels(const Targets& targets);

  const LossKind loss_;
  const LossOptions options_;
  const bool logits_;
  const int64_t batch_;
  const int64_t width_;    // outputs of an example
  const int64_t columns_;  // of the last axis
  const Shape shape_;
  const Kernels& kernels_;
  const LossBackend& backend_;
  AlignedArray<float> losses_;
  AlignedArray<float> probabilities_;  // and other scratch, as large as the output
  AlignedArray<float> scratch_;        // as large as the output
  AlignedArray<float> numbers_;        // classes as numbers
  AlignedArray<float> labels_;         // as large as the output, once it is needed
};

}  // namespace hopper
