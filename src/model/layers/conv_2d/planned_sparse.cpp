// Convolution with groups or dilation by Kernels::gemm: the pixels under one row of the window are
// segments of a product's sum, apart by the dilation, of the channels of one group.
//
// Image by image, as in planned_direct.cpp; a team shares the images.
#include <cstring>

#include "model/layers/conv_2d/planned.h"

namespace hopper {
namespace {

using During = PlanNode::During;

class PlannedSparseConv2D : public PlannedOp {
 public:
  PlannedSparseConv2D(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : node_(*node),
        kernels_(*node->kernels),
        s_(sizes),
        activation_(node, activation),
        in_height_(node->inputs[0]->shape[0]),
        in_width_(node->inputs[0]->shape[1]),
        in_(node->inputs[0]->shape[2]),
        out_(node->output->shape[2]),
        group_in_(in_ / sizes.groups),
        group_out_(out_ / sizes.groups),
        taps_(sizes.kernel_height * sizes.kernel_width * group_in_),
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
    if (node->weights[0].trainable) {
      node->keeps_inputs = true;
      kernel_gradient_ = node->Scratch({parts + 1, taps_, out_}, During::kBackward);
      if (image_ != nullptr) {
        backward_image_ = node->Scratch({parts, padded_size_}, During::kBackward);
      }
    }
    if (node->InputNeedsGradient(0)) {
      spread_ = node->Scratch({parts, padded_size_}, During::kBackward);
    }
  }

  void Forward(const StepArguments& step) override {
    // [tap][out], where a tap is a cell of the window and a channel of a group
    kernels_.transpose(step.params + node_.weights[0].offset, out_, taps_, packed_->data);
    Clear(image_);
    RunShares(node_.team, node_.batch, Work(), [&](int64_t first, int64_t last, int part) {
      for (int64_t n = first; n < last; ++n) ForwardImage(n, part, step);
    });
    if (!activation_.none() && !activation_.relu()) {
      float* y = node_.output->value->data;
      activation_.Forward(y, y);
    }
  }

  void Backward(const StepArguments& step) override {
    Clear(backward_image_);
    Clear(sums_);
    Clear(kernel_gradient_);
    const int parts = RunShares(
        node_.team, node_.batch, Work(),
        [&](int64_t first, int64_t last, int part) { BackwardImages(first, last, part, step); });
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

 private:
  static void Clear(PlanBuffer* buffer) {
    if (buffer == nullptr) return;
    std::memset(buffer->data, 0, static_cast<size_t>(buffer->size) * sizeof(float));
  }

  // Operations of one pass over the batch, about.
  double Work() const {
    return 2.0 * static_cast<double>(node_.batch) * static_cast<double>(out_size_) *
           static_cast<double>(taps_);
  }

  // Image n of the input with its padding; `scratch` is zero where the padding lies.
  const float* Padded(int64_t n, PlanBuffer* scratch, int part) const {
    const float* x = node_.inputs[0]->value->data + n * in_size_;
    if (scratch == nullptr) return x;
    float* image = scratch->data + part * padded_size_;
    for (int64_t h = 0; h < in_height_; ++h) {
      std::memcpy(image + InsideAt(h), x + h * in_width_ * in_, RowBytes());
    }
    return image;
  }
  // Where row h of the image begins in the padded one.
  int64_t InsideAt(int64_t h) const {
    return (h + s_.height.before) * padded_row_ + s_.width.before * in_;
  }
  size_t RowBytes() const { return static_cast<size_t>(in_width_ * in_) * sizeof(float); }
  // The padded cell under the first cell of row kh of the window of the first output of row oh.
  int64_t WindowAt(int64_t oh, int64_t kh) const {
    return (oh * s_.stride_height + kh * s_.dilation_height) * padded_row_;
  }

  void ForwardImage(int64_t n, int part, const StepArguments& step) const {
    const float* x = Padded(n, image_, part);
    const float* bias = s_.use_bias ? step.params + node_.weights[1].offset : nullptr;
    GemmArgs args;
    args.rows = s_.width.output;
    args.columns = group_out_;
    args.segments = s_.kernel_width;
    args.length = group_in_;
    args.a_row = s_.stride_width * in_;
    args.a_segment = s_.dilation_width * in_;
    args.b_segment = group_in_ * out_;
    args.b_row = out_;
    args.c_row = out_;
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      float* y = node_.output->value->data + n * out_size_ + oh * s_.width.output * out_;
      for (int64_t g = 0; g < s_.groups; ++g) {
        for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
          const bool last = kh + 1 == s_.kernel_height;
          args.a = x + WindowAt(oh, kh) + g * group_in_;
          args.b = packed_->data + kh * s_.kernel_width * args.b_segment + g * group_out_;
          args.c = y + g * group_out_;
          args.accumulate = kh > 0;
          args.bias = last && bias != nullptr ? bias + g * group_out_ : nullptr;
          args.relu = last && activation_.relu();
          kernels_.gemm(args);
        }
      }
    }
  }

  void BackwardImages(int64_t first, int64_t last, int part, const StepArguments& step) const {
    const int64_t pixels = s_.height.output * s_.width.output;
    float* sums = sums_ == nullptr ? nullptr : sums_->data + 2 * part * out_;
    for (int64_t n = first; n < last; ++n) {
      float* dy = node_.output->gradient->data + n * out_size_;
      activation_.BackwardPart(n * out_size_, out_size_, dy);
      if (sums != nullptr) {
        kernels_.column_sums(dy, pixels, out_, sums + out_);
        kernels_.add(sums + out_, out_, sums);
      }
      if (kernel_gradient_ != nullptr) AddKernelGradient(n, dy, part);
      if (spread_ != nullptr) {
        InputGradient(n, dy, step.params + node_.weights[0].offset, part);
      }
    }
  }

  // Sums over the pixels of one image, for each cell of the window and each group.
  void AddKernelGradient(int64_t n, const float* dy, int part) const {
    const float* x = Padded(n, backward_image_, part);
    GemmArgs args;
    args.rows = group_in_;
    args.columns = group_out_;
    args.segments = s_.height.output;
    args.length = s_.width.output;
    args.a_row = 1;
    args.a_step = s_.stride_width * in_;
    args.a_segment = s_.stride_height * padded_row_;
    args.b_segment = s_.width.output * out_;
    args.b_row = out_;
    args.c_row = out_;
    args.accumulate = true;
    float* to = kernel_gradient_->data + part * taps_ * out_;
    for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
      for (int64_t kw = 0; kw < s_.kernel_width; ++kw, to += group_in_ * out_) {
        for (int64_t g = 0; g < s_.groups; ++g) {
          args.a = x + WindowAt(0, kh) + kw * s_.dilation_width * in_ + g * group_in_;
          args.b = dy + g * group_out_;
          args.c = to + g * group_out_;
          kernels_.gemm(args);
        }
      }
    }
  }

  // Each output's gradient times the kernel, added where its window lies.
  void InputGradient(int64_t n, const float* dy, const float* kernel, int part) const {
    float* spread = spread_->data + part * padded_size_;
    std::memset(spread, 0, static_cast<size_t>(padded_size_) * sizeof(float));
    GemmArgs args;
    args.rows = s_.width.output;
    args.columns = group_in_;
    args.length = group_out_;
    args.a_row = out_;
    args.b_row = taps_;
    args.c_row = s_.stride_width * in_;
    args.accumulate = true;
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
        for (int64_t kw = 0; kw < s_.kernel_width; ++kw) {
          for (int64_t g = 0; g < s_.groups; ++g) {
            args.a = dy + oh * s_.width.output * out_ + g * group_out_;
            args.b = kernel + g * group_out_ * taps_ + (kh * s_.kernel_width + kw) * group_in_;
            args.c = spread + WindowAt(oh, kh) + kw * s_.dilation_width * in_ + g * group_in_;
            kernels_.gemm(args);
          }
        }
      }
    }
    float* dx = node_.inputs[0]->gradient->data + n * in_size_;
    for (int64_t h = 0; h < in_height_; ++h, dx += in_width_ * in_) {
      if (node_.input_accumulates[0]) {
        kernels_.add(spread + InsideAt(h), in_width_ * in_, dx);
      } else {
        std::memcpy(dx, spread + InsideAt(h), RowBytes());
      }
    }
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const ConvSizes s_;
  const PlannedActivation activation_;
  const int64_t in_height_;
  const int64_t in_width_;
  const int64_t in_;   // channels
  const int64_t out_;  // filters
  const int64_t group_in_;
  const int64_t group_out_;
  const int64_t taps_;     // weights of a filter
  const int64_t in_size_;  // floats of one image
  const int64_t out_size_;
  const int64_t padded_row_;
  const int64_t padded_size_;
  PlanBuffer* packed_ = nullptr;
  PlanBuffer* image_ = nullptr;  // a padded image for each part; null: none is needed
  PlanBuffer* backward_image_ = nullptr;
  PlanBuffer* sums_ = nullptr;             // gradient of the bias, and one image's
  PlanBuffer* kernel_gradient_ = nullptr;  // [tap][out] for each part, then as it is stored
  PlanBuffer* spread_ = nullptr;           // gradient of a padded image
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedSparseConv2D(PlanNode* node, const ConvSizes& sizes,
                                                   const ActivationSpec& activation) {
  return std::make_unique<PlannedSparseConv2D>(node, sizes, activation);
}

}  // namespace hopper
