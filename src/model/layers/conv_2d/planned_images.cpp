#include "model/layers/conv_2d/planned_images.h"

#include <cstring>

namespace hopper {

using During = PlanNode::During;

PlannedImages::PlannedImages(PlanNode* node, const ConvSizes& sizes,
                             const ActivationSpec& activation, int64_t group_in)
    : node_(*node),
      kernels_(*node->kernels),
      s_(sizes),
      activation_(node, activation),
      in_height_(node->inputs[0]->shape[0]),
      in_width_(node->inputs[0]->shape[1]),
      in_(node->inputs[0]->shape[2]),
      out_(node->output->shape[2]),
      taps_(sizes.kernel_height * sizes.kernel_width * group_in),
      in_size_(in_height_ * in_width_ * in_),
      out_size_(sizes.height.output * sizes.width.output * out_),
      padded_row_((in_width_ + sizes.width.before + sizes.width.after) * in_),
      padded_size_((in_height_ + sizes.height.before + sizes.height.after) * padded_row_) {
  const int64_t parts = node->parts();
  packed_ = node->Scratch({taps_, out_}, During::kForward);
  if (padded_size_ != in_size_) image_ = node->Scratch({parts, padded_size_}, During::kForward);
  if (!node->backward) return;
  node->keeps_output = activation_.keeps_output();
  if (s_.use_bias && node->weights[1].trainable) {
    sums_ = node->Scratch({2, parts, out_}, During::kBackward);
  }
  if (!node->weights[0].trainable) return;
  node->keeps_inputs = true;
  kernel_gradient_ = node->Scratch({parts + 1, taps_, out_}, During::kBackward);
  if (image_ != nullptr) {
    backward_image_ = node->Scratch({parts, padded_size_}, During::kBackward);
  }
}

void PlannedImages::Backward(const StepArguments& step) {
  Clear(backward_image_);
  Clear(sums_);
  BeginBackward(step);
  const int64_t pixels = s_.height.output * s_.width.output;
  const int parts =
      RunShares(node_.team, node_.batch, Work(), [&](int64_t first, int64_t last, int part) {
        float* sums = sums_ == nullptr ? nullptr : sums_->data + 2 * part * out_;
        for (int64_t n = first; n < last; ++n) {
          float* dy = node_.output->gradient->data + n * out_size_;
          activation_.BackwardPart(n * out_size_, out_size_, dy);
          if (sums != nullptr) {
            kernels_.column_sums(dy, pixels, out_, sums + out_);
            kernels_.add(sums + out_, out_, sums);
          }
          BackwardImage(n, dy, n == first, part, step);
        }
      });
  for (int part = 1; part < parts; ++part) {
    if (sums_ != nullptr) kernels_.add(sums_->data + 2 * part * out_, out_, sums_->data);
    if (kernel_gradient_ != nullptr) {
      kernels_.add(kernel_gradient_->data + part * taps_ * out_, taps_ * out_,
                   kernel_gradient_->data);
    }
  }
  if (sums_ != nullptr) node_.DeliverGradient(sums_->data, out_, 1, step);
  if (kernel_gradient_ != nullptr) {
    float* stored = kernel_gradient_->data + node_.parts() * taps_ * out_;
    kernels_.transpose(kernel_gradient_->data, taps_, out_, stored);
    node_.DeliverGradient(stored, taps_ * out_, 0, step);
  }
}

void PlannedImages::Clear(PlanBuffer* buffer) {
  if (buffer == nullptr) return;
  std::memset(buffer->data, 0, static_cast<size_t>(buffer->size) * sizeof(float));
}

double PlannedImages::Work() const {
  return 2.0 * static_cast<double>(node_.batch) * static_cast<double>(out_size_) *
         static_cast<double>(taps_);
}

void PlannedImages::Activate() const {
  if (activation_.none() || activation_.relu()) return;
  float* y = node_.output->value->data;
  activation_.Forward(y, y);
}

const float* PlannedImages::Padded(int64_t n, const PlanBuffer* scratch, int part) const {
  const float* x = node_.inputs[0]->value->data + n * in_size_;
  if (scratch == nullptr) return x;
  float* image = scratch->data + part * padded_size_;
  for (int64_t h = 0; h < in_height_; ++h) {
    std::memcpy(image + InsideAt(h), x + h * in_width_ * in_,
                static_cast<size_t>(in_width_ * in_) * sizeof(float));
  }
  return image;
}

void PlannedImages::DeliverImage(int64_t n, const float* padded) const {
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
