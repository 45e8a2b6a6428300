// Direct convolution by Kernels::gemm, image by image so that an image stays in the cache.
//
// With channels last, the pixels under one row of the window and their channels are contiguous.
// A row of outputs is therefore a matrix product whose sum runs over one segment for each row of
// the window: nothing is unfolded. Padding is a copy of one image with zeros around it. A team
// shares the images; each member has its own scratch and sums, which are added in their order.
#include <cstring>

#include "model/layers/conv_2d/planned_images.h"

namespace hopper {
namespace {

using During = PlanNode::During;

class PlannedConv2D : public PlannedImages {
 public:
  PlannedConv2D(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : PlannedImages(node, sizes, activation, node->inputs[0]->shape[2]),
        row_taps_(sizes.kernel_width * in_),
        unit_stride_(sizes.stride_height == 1 && sizes.stride_width == 1) {
    if (!node->backward || !node->InputNeedsGradient(0)) return;
    const int64_t parts = node->parts();
    if (unit_stride_) {
      flipped_ = node->Scratch({taps_, out_}, During::kBackward);
      gradient_width_ = in_width_ + s_.kernel_width - 1;
      padded_gradient_size_ = (in_height_ + s_.kernel_height - 1) * gradient_width_ * out_;
    } else {
      padded_gradient_size_ = padded_size_;
      columns_ = node->Scratch({parts, s_.width.output, row_taps_}, During::kBackward);
    }
    padded_gradient_ = node->Scratch({parts, padded_gradient_size_}, During::kBackward);
  }

  void BeginForward(const StepArguments& step) override {
    kernels_.transpose(step.params + node_.weights[0].offset, out_, taps_, packed_->data);
    Clear(image_);
  }

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    GemmArgs args;
    args.rows = s_.width.output;
    args.columns = out_;
    args.segments = s_.kernel_height;
    args.length = row_taps_;
    args.a_row = s_.stride_width * in_;
    args.a_segment = padded_row_;
    args.b = packed_->data;
    args.b_segment = row_taps_ * out_;
    args.b_row = out_;
    args.c_row = out_;
    if (s_.use_bias) args.bias = step.params + node_.weights[1].offset;
    args.relu = activation_.relu();
    RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
      GemmArgs mine = args;
      for (int64_t n = begin + first; n < begin + last; ++n) {
        const float* x = Padded(n, image_, part);
        float* y = node_.output->value->data + n * out_size_;
        for (int64_t oh = 0; oh < s_.height.output; ++oh) {
          mine.a = x + oh * s_.stride_height * mine.a_segment;
          mine.c = y + oh * s_.width.output * out_;
          kernels_.gemm(mine);
        }
      }
    });
    Activate(begin, end);
  }

 protected:
  void BeginImages(const StepArguments& step) override {
    if (padded_gradient_ == nullptr || !unit_stride_) return;
    Clear(padded_gradient_);
    Flip(step.params + node_.weights[0].offset);
  }

  void BackwardImage(int64_t n, const float* dy, bool first, int part,
                     const StepArguments& step) const override {
    if (kernel_gradient_ != nullptr) AddKernelGradient(n, dy, !first, part);
    if (padded_gradient_ == nullptr) return;
    if (unit_stride_) {
      InputGradient(n, dy, part);
    } else {
      StridedInputGradient(n, dy, step.params + node_.weights[0].offset, part);
    }
  }

 private:
  // Sums over the pixels of one image, for each row of the window.
  void AddKernelGradient(int64_t n, const float* dy, bool accumulate, int part) const {
    const float* x = Padded(n, backward_image_, part);
    GemmArgs args = KernelGradientArgs(row_taps_, out_);
    args.b = dy;
    args.accumulate = accumulate;
    for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
      args.a = x + kh * padded_row_;
      args.c = kernel_gradient_->data + (part * taps_ + kh * row_taps_) * out_;
      kernels_.gemm(args);
    }
  }

  // flipped[h][w][out][in] = kernel[out][last - h][last - w][in]
  void Flip(const float* kernel) {
    float* to = flipped_->data;
    for (int64_t h = s_.kernel_height; h-- > 0;) {
      for (int64_t w = s_.kernel_width; w-- > 0;) {
        for (int64_t o = 0; o < out_; ++o, to += in_) {
          std::memcpy(to, kernel + o * taps_ + h * row_taps_ + w * in_,
                      static_cast<size_t>(in_) * sizeof(float));
        }
      }
    }
  }

  // The gradient, with zeros around it, convolved with the flipped kernel.
  void InputGradient(int64_t n, const float* dy, int part) const {
    float* padded = padded_gradient_->data + part * padded_gradient_size_;
    // Only the gradient's own cells are written: those around it are zero already.
    float* inside = padded + (s_.kernel_height - 1 - s_.height.before) * gradient_width_ * out_ +
                    (s_.kernel_width - 1 - s_.width.before) * out_;
    const int64_t row = s_.width.output * out_;
    for (int64_t h = 0; h < s_.height.output; ++h) {
      std::memcpy(inside + h * gradient_width_ * out_, dy + h * row,
                  static_cast<size_t>(row) * sizeof(float));
    }
    GemmArgs args;
    args.rows = in_width_;
    args.columns = in_;
    args.segments = s_.kernel_height;
    args.length = s_.kernel_width * out_;
    args.a_row = out_;
    args.a_segment = gradient_width_ * out_;
    args.b = flipped_->data;
    args.b_segment = args.length * in_;
    args.b_row = in_;
    args.c_row = in_;
    args.accumulate = node_.input_accumulates[0] != 0;
    float* dx = node_.inputs[0]->gradient->data + n * in_size_;
    for (int64_t h = 0; h < in_height_; ++h) {
      args.a = padded + h * args.a_segment;
      args.c = dx + h * in_width_ * in_;
      kernels_.gemm(args);
    }
  }

  // With strides: each output's gradient times the kernel, added where its window lies.
  void StridedInputGradient(int64_t n, const float* dy, const float* kernel, int part) const {
    float* padded = padded_gradient_->data + part * padded_gradient_size_;
    float* columns = columns_->data + part * s_.width.output * row_taps_;
    std::memset(padded, 0, static_cast<size_t>(padded_gradient_size_) * sizeof(float));
    GemmArgs args;
    args.rows = s_.width.output;
    args.columns = row_taps_;
    args.length = out_;
    args.a_row = out_;
    args.b_row = taps_;
    args.c = columns;
    args.c_row = row_taps_;
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      args.a = dy + oh * s_.width.output * out_;
      for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
        args.b = kernel + kh * row_taps_;
        kernels_.gemm(args);
        float* to = padded + (oh * s_.stride_height + kh) * padded_row_;
        for (int64_t ow = 0; ow < s_.width.output; ++ow) {
          kernels_.add(columns + ow * row_taps_, row_taps_, to + ow * s_.stride_width * in_);
        }
      }
    }
    DeliverImage(n, padded);
  }

  const int64_t row_taps_;  // weights of a filter under one row of the window
  const bool unit_stride_;
  int64_t gradient_width_ = 0;
  int64_t padded_gradient_size_ = 0;
  PlanBuffer* flipped_ = nullptr;
  PlanBuffer* padded_gradient_ = nullptr;  // one image's gradient with room around it
  PlanBuffer* columns_ = nullptr;          // one row of outputs' gradient by the inputs of each
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedConv2D(PlanNode* node, const ConvSizes& sizes,
                                             const ActivationSpec& activation) {
  if (PrefersWinograd(sizes, node->inputs[0]->shape[2], node->output->shape[2])) {
    return MakePlannedWinograd(node, sizes, activation);
  }
  if (PrefersColumns(*node, sizes)) return MakePlannedColumns(node, sizes, activation);
  return std::make_unique<PlannedConv2D>(node, sizes, activation);
}

}  // namespace hopper
