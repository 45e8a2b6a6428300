#include "model/layers/conv_2d/planned_convolution.h"

#include <cstring>

namespace hopper {

PlannedConvolution::PlannedConvolution(PlanNode* node, const ConvSizes& sizes,
                                       const ActivationSpec& activation, int64_t group_in)
    : PiecewiseOp(node->batch),
      node_(*node),
      kernels_(*node->kernels),
      s_(sizes),
      activation_(node, activation),
      in_height_(node->inputs[0]->shape[0]),
      in_width_(node->inputs[0]->shape[1]),
      in_(node->inputs[0]->shape[2]),
      out_(node->output->shape[2]),
      pixels_(sizes.height.output * sizes.width.output),
      taps_(sizes.kernel_height * sizes.kernel_width * group_in),
      in_size_(in_height_ * in_width_ * in_),
      out_size_(pixels_ * out_),
      padded_row_((in_width_ + sizes.width.before + sizes.width.after) * in_),
      padded_size_((in_height_ + sizes.height.before + sizes.height.after) * padded_row_) {}

void PlannedConvolution::Clear(PlanBuffer* buffer) {
  if (buffer == nullptr) return;
  std::memset(buffer->data, 0, static_cast<size_t>(buffer->size) * sizeof(float));
}

double PlannedConvolution::Work() const {
  return 2.0 * static_cast<double>(node_.batch) * static_cast<double>(out_size_) *
         static_cast<double>(taps_);
}

void PlannedConvolution::Activate(int64_t first, int64_t last) const {
  if (activation_.none() || activation_.relu()) return;
  const int64_t at = first * out_size_;
  activation_.ForwardPart(at, last * out_size_ - at, node_.output->value->data + at);
}

void PlannedConvolution::DeliverImage(int64_t n, const float* padded) const {
  float* dx = node_.inputs[0]->gradient->data + n * in_size_;
  for (int64_t h = 0; h < in_height_; ++h, dx += in_width_ * in_) {
    if (node_.input_accumulates[0]) {
      kernels_.add(padded + InsideAt(h), in_width_ * in_, dx);
    } else {
      std::memcpy(dx, padded + InsideAt(h), static_cast<size_t>(in_width_ * in_) * sizeof(float));
    }
  }
}

}  // namespace hopper
