// Convolution as products of whole matrices: a row for each output pixel of a few images, with the
// inputs under its window one after another. Windows of one pixel with stride 1 need no copy: the
// images are that matrix.
//
// The kernel lies as [out][tap], which is what both gradients want: only the forward pass
// transposes it. A team shares the rows of each product.
#include <algorithm>
#include <cstring>

#include "model/layers/conv_2d/planned_convolution.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace {

using During = PlanNode::During;

// Rows of a product, about: enough for a product, and few enough for the memory of the copies.
constexpr int64_t kRows = 1024;

bool OfOnePixel(const ConvSizes& sizes) {
  return sizes.kernel_height == 1 && sizes.kernel_width == 1;
}

class PlannedColumns : public PlannedConvolution {
 public:
  PlannedColumns(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : PlannedConvolution(node, sizes, activation, node->inputs[0]->shape[2]),
        direct_(OfOnePixel(sizes) && sizes.stride_height == 1 && sizes.stride_width == 1 &&
                pixels_ == in_height_ * in_width_),
        images_(direct_ ? node->batch
                        : std::min(node->batch,
                                   std::max<int64_t>(1, kRows / std::max<int64_t>(1, pixels_)))) {
    if (!direct_) columns_ = node->Scratch({images_, pixels_, taps_}, During::kForward);
    turned_ = node->Scratch({taps_, out_}, During::kForward);
    if (!node->backward) return;
    node->keeps_output = activation_.keeps_output();
    if (s_.use_bias && node->weights[1].trainable) {
      sums_ = node->Scratch({2, out_}, During::kBackward);
    }
    node->keeps_inputs = node->weights[0].trainable;
    if (!direct_) back_columns_ = node->Scratch({images_, pixels_, taps_}, During::kBackward);
  }

  void BeginForward(const StepArguments& step) override {
    kernels_.transpose(step.params + node_.weights[0].offset, out_, taps_, turned_->data);
  }

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    const float* bias = s_.use_bias ? step.params + node_.weights[1].offset : nullptr;
    float* y = node_.output->value->data;
    for (int64_t n = begin; n < end; n += images_) {
      const int64_t images = std::min(images_, end - n);
      PlannedProduct(kernels_, node_.team, images * pixels_, out_, taps_,
                     Unfolded(n, images, columns_), turned_->data, bias, activation_.relu(),
                     y + n * out_size_);
    }
    Activate(begin, end);
  }

  void BeginBackward(const StepArguments& /*step*/) override { Clear(sums_); }

  void BackwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    float* dy = node_.output->gradient->data;
    for (int64_t n = begin; n < end; ++n) {
      activation_.BackwardPart(n * out_size_, out_size_, dy + n * out_size_);
      if (sums_ == nullptr) continue;
      kernels_.column_sums(dy + n * out_size_, pixels_, out_, sums_->data + out_);
      kernels_.add(sums_->data + out_, out_, sums_->data);
    }
    const float* kernel = step.params + node_.weights[0].offset;
    for (int64_t n = begin; n < end; n += images_) {
      const int64_t images = std::min(images_, end - n);
      const int64_t rows = images * pixels_;
      const float* from = dy + n * out_size_;
      if (node_.weights[0].trainable) {
        PlannedWeightGradient(
            kernels_, node_.team, rows, taps_, out_, from, Unfolded(n, images, back_columns_),
            n > 0 || node_.weight_accumulates[0] != 0, step.gradients + node_.weights[0].offset);
      }
      if (node_.InputNeedsGradient(0)) InputGradient(n, images, from, kernel);
    }
  }

  void EndBackward(const StepArguments& step) override {
    if (sums_ != nullptr) node_.DeliverGradient(sums_->data, out_, 1, step);
  }

 private:
  // Calls body(cell of the image's row, cell of the columns' row, floats) for what lies inside of
  // the image of the windows of `image`.
  template <typename Body>
  void ForWindows(const Body& body) const {
    int64_t row = 0;
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      for (int64_t ow = 0; ow < s_.width.output; ++ow, row += taps_) {
        const int64_t left = ow * s_.stride_width - s_.width.before;
        const int64_t first = std::max<int64_t>(0, -left);
        const int64_t last = std::min(s_.kernel_width, in_width_ - left);
        if (first >= last) continue;
        for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
          const int64_t h = oh * s_.stride_height - s_.height.before + kh;
          if (h < 0 || h >= in_height_) continue;
          body((h * in_width_ + left + first) * in_, row + (kh * s_.kernel_width + first) * in_,
               (last - first) * in_);
        }
      }
    }
  }

  // The rows of so many images from `first` on.
  const float* Unfolded(int64_t first, int64_t images, PlanBuffer* columns) const {
    const float* x = node_.inputs[0]->value->data + first * in_size_;
    if (direct_) return x;
    const int64_t floats = pixels_ * taps_;
    if (s_.height.before + s_.height.after + s_.width.before + s_.width.after > 0) {
      std::memset(columns->data, 0, static_cast<size_t>(images * floats) * sizeof(float));
    }
    for (int64_t n = 0; n < images; ++n) {
      ForWindows([&](int64_t cell, int64_t at, int64_t count) {
        std::memcpy(columns->data + n * floats + at, x + n * in_size_ + cell,
                    static_cast<size_t>(count) * sizeof(float));
      });
    }
    return columns->data;
  }

  void InputGradient(int64_t first, int64_t images, const float* dy, const float* kernel) const {
    const int64_t rows = images * pixels_;
    float* dx = node_.inputs[0]->gradient->data + first * in_size_;
    const bool adds = node_.input_accumulates[0] != 0;
    if (direct_ && !adds) {
      PlannedProduct(kernels_, node_.team, rows, taps_, out_, dy, kernel, nullptr, false, dx);
      return;
    }
    if (direct_) {
      PlannedProductAdded(kernels_, node_.team, rows, taps_, out_, dy, kernel, dx);
      return;
    }
    PlannedProduct(kernels_, node_.team, rows, taps_, out_, dy, kernel, nullptr, false,
                   back_columns_->data);
    if (!adds) std::memset(dx, 0, static_cast<size_t>(images * in_size_) * sizeof(float));
    for (int64_t n = 0; n < images; ++n) {
      ForWindows([&](int64_t cell, int64_t at, int64_t count) {
        kernels_.add(back_columns_->data + n * pixels_ * taps_ + at, count,
                     dx + n * in_size_ + cell);
      });
    }
  }

  const bool direct_;     // the images are the columns
  const int64_t images_;  // of one product
  PlanBuffer* columns_ = nullptr;
  PlanBuffer* turned_ = nullptr;  // the kernel as [tap][out]
  PlanBuffer* sums_ = nullptr;    // gradient of the bias, and one image's
  PlanBuffer* back_columns_ = nullptr;
};

}  // namespace

bool PrefersColumns(const PlanNode& node, const ConvSizes& sizes) {
  if (OfOnePixel(sizes)) return true;
  // A kernel that does not stay in the cache is read for the pixels of several images at once.
  const int64_t taps = sizes.kernel_height * sizes.kernel_width * node.inputs[0]->shape[2];
  return ElementCount({taps, node.output->shape[2]}) >= kLargeWeights;
}

std::unique_ptr<PlannedOp> MakePlannedColumns(PlanNode* node, const ConvSizes& sizes,
                                              const ActivationSpec& activation) {
  return std::make_unique<PlannedColumns>(node, sizes, activation);
}

}  // namespace hopper
