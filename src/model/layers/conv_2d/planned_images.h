// What convolutions that go image by image have in common: padded copies of images, and the
// gradients of kernel and bias, which each member of a team sums over its images and which are
// added in the members' order.
#pragma once

#include <memory>

#include "model/layers/conv_2d/planned_convolution.h"

namespace hopper {

class PlannedImages : public PlannedConvolution {
 public:
  void BeginBackward(const StepArguments& step) override;
  void BackwardPiece(const StepArguments& step, int64_t begin, int64_t end) override;
  void EndBackward(const StepArguments& step) override;

 protected:
  // `group_in`: channels that a filter reads.
  PlannedImages(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation,
                int64_t group_in);

  // Clears what the backward pass adds to.
  virtual void BeginImages(const StepArguments& step) = 0;
  // Gradients of kernel and input of image n; dy is that of its outputs, before the activation.
  virtual void BackwardImage(int64_t n, const float* dy, bool first, int part,
                             const StepArguments& step) const = 0;

  // Image n of the input with its padding; `scratch` is zero where the padding lies, and null
  // where there is none.
  const float* Padded(int64_t n, const PlanBuffer* scratch, int part) const;
  // The product that sums over the pixels of one image, for `rows` inputs of a window and `columns`
  // filters; where they lie is the caller's.
  GemmArgs KernelGradientArgs(int64_t rows, int64_t columns) const;

  int parts_ = 1;                          // that have sums
  PlanBuffer* packed_ = nullptr;           // kernel [tap][out]
  PlanBuffer* image_ = nullptr;            // a padded image for each part; null: none is needed
  PlanBuffer* backward_image_ = nullptr;   // the same
  PlanBuffer* sums_ = nullptr;             // gradient of the bias, and one image's
  PlanBuffer* kernel_gradient_ = nullptr;  // [tap][out] for each part, then as it is stored
};

}  // namespace hopper
