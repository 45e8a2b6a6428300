// What the forms of a convolution have in common: its sizes, and what becomes of images.
#pragma once

#include "model/layers/conv_2d/planned.h"

namespace hopper {

class PlannedConvolution : public PiecewiseOp {
 protected:
  // `group_in`: channels that a filter reads.
  PlannedConvolution(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation,
                     int64_t group_in);

  // With zeros; null: there is none.
  static void Clear(PlanBuffer* buffer);
  // Operations of one pass over the batch, about.
  double Work() const;
  // The activation of these images' outputs, unless the product has computed it.
  void Activate(int64_t first, int64_t last) const;
  // Where row h of an image begins in the padded one.
  int64_t InsideAt(int64_t h) const {
    return (h + s_.height.before) * padded_row_ + s_.width.before * in_;
  }
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
  const int64_t pixels_;   // of an output
  const int64_t taps_;     // weights of a filter
  const int64_t in_size_;  // numbers of one image
  const int64_t out_size_;
  const int64_t padded_row_;  // numbers of a row of a padded image
  const int64_t padded_size_;
};

}  // namespace hopper
