// What convolutions that go image by image have in common: sizes, padded copies of images, and the
// gradients of kernel and bias, which each member of a team sums over its images and which are
// added in the members' order.
#pragma once

#include <memory>

#include "model/layers/conv_2d/planned.h"

namespace hopper {

class PlannedImages : public PlannedOp {
 public:
  void Backward(const StepArguments& step) override;

 protected:
  // `group_in`: channels that a filter reads.
  PlannedImages(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation,
                int64_t group_in);

  // Clears what the backward pass adds to.
  virtual void BeginBackward(const StepArguments& step) = 0;
  // Gradients of kernel and input of image n; dy is that of its outputs, before the activation.
  virtual void BackwardImage(int64_t n, const float* dy, bool first, int part,
                             const StepArguments& step) const = 0;

  // With zeros; null: there is none.
  static void Clear(PlanBuffer* buffer);
  // Operations of one pass over the batch, about.
  double Work() const;
  // The activation of all outputs, unless the product has computed it.
  void Activate() const;
  // Image n of the input with its padding; `scratch` is zero where the padding lies, and null
  // where there is none.
  const float* Padded(int64_t n, const PlanBuffer* scratch, int part) const;
  // The image that lies in a padded one becomes, or is added to, the gradient of image n.
  void DeliverImage(int64_t n, const float* padded) const;

  const PlanNode& node_;
  const Kernels& kernels_;
  const ConvSizes s_;
  const PlannedActivation activation_;
  const int64_t in_height_;
  const int64_t in_width_;
  const int64_t in_;       // channels
  const int64_t out_;      // filters
  const int64_t taps_;     // weights of a filter
  const int64_t in_size_;  // floats of one image
  const int64_t out_size_;
  const int64_t padded_row_;  // floats of a row of a padded image
  const int64_t padded_size_;
  PlanBuffer* packed_ = nullptr;           // kernel [tap][out]
  PlanBuffer* image_ = nullptr;            // a padded image for each part; null: none is needed
  PlanBuffer* backward_image_ = nullptr;   // the same
  PlanBuffer* sums_ = nullptr;             // gradient of the bias, and one image's
  PlanBuffer* kernel_gradient_ = nullptr;  // [tap][out] for each part, then as it is stored

 private:
  // Where row h of an image begins in the padded one.
  int64_t InsideAt(int64_t h) const {
    return (h + s_.height.before) * padded_row_ + s_.width.before * in_;
  }
};

}  // namespace hopper
