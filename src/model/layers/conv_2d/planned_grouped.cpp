// Convolution with groups or dilation by Kernels::gemm: the pixels under one row of the window are
// segments of a product's sum, apart by the dilation, of the channels of one group.
//
// Image by image, as in planned_direct.cpp.
#include <cstring>

#include "model/layers/conv_2d/planned_images.h"

namespace hopper {
namespace {

using During = PlanNode::During;

class PlannedGroupedConv2D : public PlannedImages {
 public:
  PlannedGroupedConv2D(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : PlannedImages(node, sizes, activation, node->inputs[0]->shape[2] / sizes.groups),
        group_in_(in_ / sizes.groups),
        group_out_(out_ / sizes.groups) {
    if (!node->backward || !node->InputNeedsGradient(0)) return;
    padded_gradient_ = node->Scratch({node->parts(), padded_size_}, During::kBackward);
  }

  void BeginForward(const StepArguments& step) override {
    // [tap][out], where a tap is a cell of the window and a channel of a group
    kernels_.transpose(step.params + node_.weights[0].offset, out_, taps_, packed_->data);
    Clear(image_);
  }

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
      for (int64_t n = begin + first; n < begin + last; ++n) ForwardImage(n, part, step);
    });
    Activate(begin, end);
  }

 protected:
  void BeginImages(const StepArguments& /*step*/) override { Clear(kernel_gradient_); }

  void BackwardImage(int64_t n, const float* dy, bool /*first*/, int part,
                     const StepArguments& step) const override {
    if (kernel_gradient_ != nullptr) AddKernelGradient(n, dy, part);
    if (padded_gradient_ != nullptr) {
      InputGradient(n, dy, step.params + node_.weights[0].offset, part);
    }
  }

 private:
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

  // Sums over the pixels of one image, for each cell of the window and each group.
  void AddKernelGradient(int64_t n, const float* dy, int part) const {
    const float* x = Padded(n, backward_image_, part);
    GemmArgs args = KernelGradientArgs(group_in_, group_out_);
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
    float* padded = padded_gradient_->data + part * padded_size_;
    std::memset(padded, 0, static_cast<size_t>(padded_size_) * sizeof(float));
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
            args.c = padded + WindowAt(oh, kh) + kw * s_.dilation_width * in_ + g * group_in_;
            kernels_.gemm(args);
          }
        }
      }
    }
    DeliverImage(n, padded);
  }

  const int64_t group_in_;
  const int64_t group_out_;
  PlanBuffer* padded_gradient_ = nullptr;  // gradient of a padded image
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedGroupedConv2D(PlanNode* node, const ConvSizes& sizes,
                                                    const ActivationSpec& activation) {
  return std::make_unique<PlannedGroupedConv2D>(node, sizes, activation);
}

}  // namespace hopper
