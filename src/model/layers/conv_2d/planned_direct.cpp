// Direct convolution by Kernels::gemm, image by image so that an image stays in the cache.
//
// With channels last, the pixels under one row of the window and their channels are contiguous.
// A row of outputs is therefore a matrix product whose sum runs over one segment for each row of
// the window: nothing is unfolded. Padding is a copy of one image with zeros around it. A team
// shares the images; each member has its own scratch and sums, which are added in their order.
#include <cstring>

#include "model/layers/conv_2d/planned.h"

namespace hopper {
namespace {

using During = PlanNode::During;

// out = image with `top` rows and `left` pixels of zeros before it. Only the image's own cells
// are written: the others are zero already.
void CopyInto(const float* image, int64_t height, int64_t width_floats, int64_t top,
              int64_t left_floats, int64_t out_width_floats, float* out) {
  out += top * out_width_floats + left_floats;
  for (int64_t h = 0; h < height; ++h) {
    std::memcpy(out, image, static_cast<size_t>(width_floats) * sizeof(float));
    image += width_floats;
    out += out_width_floats;
  }
}

void Clear(PlanBuffer* buffer) {
  std::memset(buffer->data, 0, static_cast<size_t>(buffer->size) * sizeof(float));
}

class PlannedConv2D : public PlannedOp {
 public:
  PlannedConv2D(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : node_(*node),
        kernels_(*node->kernels),
        s_(sizes),
        activation_(node, activation),
        in_height_(node->inputs[0]->shape[0]),
        in_width_(node->inputs[0]->shape[1]),
        in_(node->inputs[0]->shape[2]),
        out_(node->output->shape[2]),
        row_taps_(sizes.kernel_width * in_),
        taps_(sizes.kernel_height * row_taps_),
        in_size_(in_height_ * in_width_ * in_),
        out_size_(sizes.height.output * sizes.width.output * out_),
        padded_(sizes.height.before + sizes.height.after + sizes.width.before + sizes.width.after >
                0),
        padded_width_(in_width_ + sizes.width.before + sizes.width.after),
        unit_stride_(sizes.stride_height == 1 && sizes.stride_width == 1) {
    packed_ = node->Scratch({taps_, out_}, During::kForward);
    const int64_t padded_size =
        (in_height_ + s_.height.before + s_.height.after) * padded_width_ * in_;
    padded_size_ = padded_size;
    const int64_t parts = node->parts();
    if (padded_) image_ = node->Scratch({parts, padded_size}, During::kForward);
    if (!node->backward) return;
    node->keeps_output = activation_.keeps_output();
    if (s_.use_bias && node->weights[1].trainable)
      sums_ = node->Scratch({2, parts, out_}, During::kBackward);
    if (node->weights[0].trainable) {
      node->keeps_inputs = true;
      kernel_gradient_ = node->Scratch({parts + 1, taps_, out_}, During::kBackward);
      if (padded_) backward_image_ = node->Scratch({parts, padded_size}, During::kBackward);
    }
    if (!node->InputNeedsGradient(0)) return;
    if (unit_stride_) {
      flipped_ = node->Scratch({taps_, out_}, During::kBackward);
      gradient_width_ = in_width_ + s_.kernel_width - 1;
      spread_size_ = (in_height_ + s_.kernel_height - 1) * gradient_width_ * out_;
    } else {
      spread_size_ = padded_size;
      columns_ = node->Scratch({parts, s_.width.output, row_taps_}, During::kBackward);
    }
    spread_ = node->Scratch({parts, spread_size_}, During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    kernels_.transpose(step.params + node_.weights[0].offset, out_, taps_, packed_->data);
    if (padded_) Clear(image_);
    GemmArgs args;
    args.rows = s_.width.output;
    args.columns = out_;
    args.segments = s_.kernel_height;
    args.length = row_taps_;
    args.a_row = s_.stride_width * in_;
    args.a_segment = padded_width_ * in_;
    args.b = packed_->data;
    args.b_segment = row_taps_ * out_;
    args.b_row = out_;
    args.c_row = out_;
    if (s_.use_bias) args.bias = step.params + node_.weights[1].offset;
    args.relu = activation_.relu();
    RunShares(node_.team, node_.batch, Work(), [&](int64_t first, int64_t last, int part) {
      GemmArgs mine = args;
      for (int64_t n = first; n < last; ++n) {
        const float* x = Padded(n, image_, part);
        float* y = node_.output->value->data + n * out_size_;
        for (int64_t oh = 0; oh < s_.height.output; ++oh) {
          mine.a = x + oh * s_.stride_height * mine.a_segment;
          mine.c = y + oh * s_.width.output * out_;
          kernels_.gemm(mine);
        }
      }
    });
    if (!activation_.none() && !activation_.relu()) {
      float* y = node_.output->value->data;
      activation_.Forward(y, y);
    }
  }

  void Backward(const StepArguments& step) override {
    if (backward_image_ != nullptr) Clear(backward_image_);
    if (sums_ != nullptr) Clear(sums_);
    if (node_.InputNeedsGradient(0) && unit_stride_) {
      Clear(spread_);
      Flip(step.params + node_.weights[0].offset);
    }
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
  // Operations of one pass over the batch, about.
  double Work() const {
    return 2.0 * static_cast<double>(node_.batch) * static_cast<double>(out_size_) *
           static_cast<double>(taps_);
  }

  void BackwardImages(int64_t first, int64_t last, int part, const StepArguments& step) {
    const int64_t pixels = s_.height.output * s_.width.output;
    float* sums = sums_ == nullptr ? nullptr : sums_->data + 2 * part * out_;
    for (int64_t n = first; n < last; ++n) {
      float* dy = node_.output->gradient->data + n * out_size_;
      activation_.BackwardPart(n * out_size_, out_size_, dy);
      if (sums != nullptr) {
        kernels_.column_sums(dy, pixels, out_, sums + out_);
        kernels_.add(sums + out_, out_, sums);
      }
      if (kernel_gradient_ != nullptr) AddKernelGradient(n, dy, n > first, part);
      if (node_.InputNeedsGradient(0)) {
        if (unit_stride_) {
          InputGradient(n, dy, part);
        } else {
          StridedInputGradient(n, dy, step.params + node_.weights[0].offset, part);
        }
      }
    }
  }

  // Image n of the input with its padding.
  const float* Padded(int64_t n, PlanBuffer* scratch, int part) const {
    const float* x = node_.inputs[0]->value->data + n * in_size_;
    if (!padded_) return x;
    CopyInto(x, in_height_, in_width_ * in_, s_.height.before, s_.width.before * in_,
             padded_width_ * in_, scratch->data + part * padded_size_);
    return scratch->data + part * padded_size_;
  }

  // Sums over the pixels of one image, for each row of the window.
  void AddKernelGradient(int64_t n, const float* dy, bool accumulate, int part) {
    const float* x = Padded(n, backward_image_, part);
    GemmArgs args;
    args.rows = row_taps_;
    args.columns = out_;
    args.segments = s_.height.output;
    args.length = s_.width.output;
    args.a_row = 1;
    args.a_step = s_.stride_width * in_;
    args.a_segment = s_.stride_height * padded_width_ * in_;
    args.b = dy;
    args.b_segment = s_.width.output * out_;
    args.b_row = out_;
    args.c_row = out_;
    args.accumulate = accumulate;
    for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
      args.a = x + kh * padded_width_ * in_;
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
  void InputGradient(int64_t n, const float* dy, int part) {
    float* spread = spread_->data + part * spread_size_;
    CopyInto(dy, s_.height.output, s_.width.output * out_, s_.kernel_height - 1 - s_.height.before,
             (s_.kernel_width - 1 - s_.width.before) * out_, gradient_width_ * out_, spread);
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
      args.a = spread + h * args.a_segment;
      args.c = dx + h * in_width_ * in_;
      kernels_.gemm(args);
    }
  }

  // With strides: each output's gradient times the kernel, added where its window lies.
  void StridedInputGradient(int64_t n, const float* dy, const float* kernel, int part) {
    float* spread = spread_->data + part * spread_size_;
    float* columns = columns_->data + part * s_.width.output * row_taps_;
    std::memset(spread, 0, static_cast<size_t>(spread_size_) * sizeof(float));
    GemmArgs args;
    args.rows = s_.width.output;
    args.columns = row_taps_;
    args.length = out_;
    args.a_row = out_;
    args.b_row = taps_;
    args.c = columns;
    args.c_row = row_taps_;
    const int64_t row = padded_width_ * in_;
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      args.a = dy + oh * s_.width.output * out_;
      for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
        args.b = kernel + kh * row_taps_;
        kernels_.gemm(args);
        float* to = spread + (oh * s_.stride_height + kh) * row;
        for (int64_t ow = 0; ow < s_.width.output; ++ow) {
          kernels_.add(columns + ow * row_taps_, row_taps_, to + ow * s_.stride_width * in_);
        }
      }
    }
    float* dx = node_.inputs[0]->gradient->data + n * in_size_;
    const float* from = spread + s_.height.before * row + s_.width.before * in_;
    for (int64_t h = 0; h < in_height_; ++h) {
      float* to = dx + h * in_width_ * in_;
      if (node_.input_accumulates[0]) {
        kernels_.add(from + h * row, in_width_ * in_, to);
      } else {
        std::memcpy(to, from + h * row, static_cast<size_t>(in_width_ * in_) * sizeof(float));
      }
    }
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const ConvSizes s_;
  const PlannedActivation activation_;
  const int64_t in_height_;
  const int64_t in_width_;
  const int64_t in_;        // channels
  const int64_t out_;       // filters
  const int64_t row_taps_;  // weights of a filter under one row of the window
  const int64_t taps_;
  const int64_t in_size_;  // floats of one image
  const int64_t out_size_;
  const bool padded_;
  const int64_t padded_width_;
  const bool unit_stride_;
  int64_t gradient_width_ = 0;
  int64_t padded_size_ = 0;  // of the scratch of one part
  int64_t spread_size_ = 0;
  PlanBuffer* packed_ = nullptr;  // kernel [tap][out]
  PlanBuffer* image_ = nullptr;   // one padded image
  PlanBuffer* backward_image_ = nullptr;
  PlanBuffer* sums_ = nullptr;             // gradient of the bias, and one image's
  PlanBuffer* kernel_gradient_ = nullptr;  // [tap][out], then as it is stored
  PlanBuffer* flipped_ = nullptr;
  PlanBuffer* spread_ = nullptr;   // one image's gradient with room around it
  PlanBuffer* columns_ = nullptr;  // one row of outputs' gradient by the inputs of each
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedConv2D(PlanNode* node, const ConvSizes& sizes,
                                             const ActivationSpec& activation) {
  if (PrefersColumns(*node, sizes)) return MakePlannedColumns(node, sizes, activation);
  if (PrefersWinograd(*node, sizes)) return MakePlannedWinograd(node, sizes, activation);
  return std::make_unique<PlannedConv2D>(node, sizes, activation);
}

}  // namespace hopper
