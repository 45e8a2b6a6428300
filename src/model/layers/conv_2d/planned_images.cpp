#include "model/layers/conv_2d/planned_images.h"

#include <cstring>

namespace hopper {

using During = PlanNode::During;

PlannedImages::PlannedImages(PlanNode* node, const ConvSizes& sizes,
                             const ActivationSpec& activation, int64_t group_in)
    : PlannedConvolution(node, sizes, activation, group_in) {
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

void PlannedImages::BeginBackward(const StepArguments& step) {
  Clear(backward_image_);
  Clear(sums_);
  BeginImages(step);
}

void PlannedImages::BackwardPiece(const StepArguments& step, int64_t begin, int64_t end) {
  parts_ = RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
    float* sums = sums_ == nullptr ? nullptr : sums_->data + 2 * part * out_;
    for (int64_t n = begin + first; n < begin + last; ++n) {
      float* dy = node_.output->gradient->data + n * out_size_;
      activation_.BackwardPart(n * out_size_, out_size_, dy);
      if (sums != nullptr) {
        kernels_.column_sums(dy, pixels_, out_, sums + out_);
        kernels_.add(sums + out_, out_, sums);
      }
      BackwardImage(n, dy, begin == 0 && n == first, part, step);
    }
  });
}

void PlannedImages::EndBackward(const StepArguments& step) {
  for (int part = 1; part < parts_; ++part) {
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

GemmArgs PlannedImages::KernelGradientArgs(int64_t rows, int64_t columns) const {
  GemmArgs args;
  args.rows = rows;
  args.columns = columns;
  args.segments = s_.height.output;
  args.length = s_.width.output;
  args.a_row = 1;
  args.a_step = s_.stride_width * in_;
  args.a_segment = s_.stride_height * padded_row_;
  args.b_segment = s_.width.output * out_;
  args.b_row = out_;
  args.c_row = out_;
  return args;
}

}  // namespace hopper
