// Direct convolution with products of bfloat16 numbers, image by image.
//
// As in planned_direct.cpp nothing is unfolded: the pixels under one row of the window are a
// segment of the sum. One product serves all rows of an image whose windows meet the same rows
// of padding; those take no part in it.
//
// A team shares the images, and then the rows of the kernel's gradient, for which each member goes
// through all images: no sum is cut, so that the bits do not depend on the team.
#include "model/planned/planned_bf16.h"

#include <algorithm>
#include <cstring>

#include "model/layers/conv_2d/planned_convolution.h"

namespace hopper {
namespace {

using During = PlanNode::During;

int64_t Pairs(int64_t n) { return (n + 1) / 2; }

class PlannedConv2DBf16 : public PlannedConvolution {
 public:
  PlannedConv2DBf16(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : PlannedConvolution(node, sizes, activation, node->inputs[0]->shape[2]),
        bf16_(*node->bf16),
        row_taps_(sizes.kernel_width * in_),
        out_row_(sizes.width.output * out_),
        even_out_(2 * Pairs(out_)),
        unit_stride_(sizes.stride_height == 1 && sizes.stride_width == 1) {
    node->reads_shadow = true;
    packed_ = node->Scratch({Bf16PackedSize(out_, s_.kernel_height * Pairs(row_taps_))},
                            During::kForward);
    const int64_t parts = node->parts();
    image_ = node->Scratch({parts, ImageFloats()}, During::kForward);
    if (!node->backward) return;
    node->keeps_output = activation_.keeps_output();
    if (s_.use_bias && node->weights[1].trainable)
      sums_ = node->Scratch({1 + (parts > 1 ? node->batch : 1), out_}, During::kBackward);
    if (node->weights[0].trainable) {
      node->keeps_inputs = true;
      kernel_gradient_ = node->Scratch({2, taps_, out_}, During::kBackward);
      backward_image_ = node->Scratch({parts, ImageFloats()}, During::kBackward);
      pixel_pairs_ = node->Scratch({parts, padded_size_}, During::kBackward);
      gradient_pairs_ = node->Scratch({parts, GradientPairs()}, During::kBackward);
    }
    if (!node->InputNeedsGradient(0)) return;
    if (unit_stride_) {
      flipped_ =
          node->Scratch({Bf16PackedSize(in_, s_.kernel_height * s_.kernel_width * Pairs(out_))},
                        During::kBackward);
      padded_gradient_row_ = (in_width_ + s_.kernel_width - 1) * even_out_;
      padded_gradient_size_ =
          Bf16Floats((in_height_ + s_.kernel_height - 1) * padded_gradient_row_);
    } else {
      row_gradient_ = node->Scratch({parts, s_.width.output, Pairs(out_)}, During::kBackward);
      flipped_ = node->Scratch({Bf16PackedSize(taps_, Pairs(out_))}, During::kBackward);
      padded_gradient_size_ = padded_size_;
      columns_ = node->Scratch({parts, s_.width.output, taps_}, During::kBackward);
    }
    padded_gradient_ = node->Scratch({parts, padded_gradient_size_}, During::kBackward);
  }

  void BeginForward(const StepArguments& step) override {
    const uint16_t* kernel = step.shadow + node_.weights[0].offset;
    const int64_t row_pairs = Pairs(row_taps_);
    const int64_t all_pairs = s_.kernel_height * row_pairs;
    for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
      PackColumns(bf16_, kernel + kh * row_taps_, taps_, row_taps_, out_, kh * row_pairs, all_pairs,
                  PairData(packed_));
    }
    Clear(image_);
  }

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    const int64_t row_pairs = Pairs(row_taps_);
    const int64_t all_pairs = s_.kernel_height * row_pairs;
    Bf16GemmArgs args;
    args.groups = s_.height.output;
    args.rows = s_.width.output;
    args.columns = out_;
    args.segments = s_.kernel_height;
    args.pairs = row_pairs;  // of an odd row, the last one ends at a weight of 0
    args.a_group = s_.stride_height * padded_row_;
    args.a_row = s_.stride_width * in_;
    args.a_segment = padded_row_;
    args.b = PairData(packed_);
    args.b_panel = all_pairs * Bf16Pitch(out_);
    args.c_group = out_row_;
    args.c_row = out_;
    if (s_.use_bias) args.bias = step.params + node_.weights[1].offset;
    args.relu = activation_.relu();
    RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
      Bf16GemmArgs mine = args;
      for (int64_t n = begin + first; n < begin + last; ++n) {
        mine.a = RoundImage(n, image_, part);
        mine.c = node_.output->value->data + n * out_size_;
        Bands(mine, s_.stride_height, s_.height.before, in_height_);
      }
    });
    Activate(begin, end);
  }

  void BeginBackward(const StepArguments& step) override {
    const uint16_t* kernel = step.shadow + node_.weights[0].offset;
    const bool input_gradient = node_.InputNeedsGradient(0);
    Clear(backward_image_);
    Clear(sums_);
    if (input_gradient && unit_stride_) {
      Clear(padded_gradient_);
      Flip(kernel);
    } else if (input_gradient) {
      PackRoundedRows(bf16_, kernel, taps_, out_, taps_, 0, Pairs(out_), PairData(flipped_));
    }
  }

  void BackwardPiece(const StepArguments& /*step*/, int64_t begin, int64_t end) override {
    const int parts =
        RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
          const bool alone = last - first == end - begin;
          for (int64_t n = begin + first; n < begin + last; ++n) BackwardImage(n, part, alone);
        });
    if (parts > 1) AddSharedGradients();
  }

  void EndBackward(const StepArguments& step) override {
    if (sums_ != nullptr) node_.DeliverGradient(sums_->data, out_, 1, step);
    if (kernel_gradient_ != nullptr) {
      float* stored = kernel_gradient_->data + taps_ * out_;
      kernels_.transpose(kernel_gradient_->data, taps_, out_, stored);
      node_.DeliverGradient(stored, taps_ * out_, 0, step);
    }
  }

 private:
  // A thread that works alone adds to the sums over all images while each is in the cache.
  void BackwardImage(int64_t n, int part, bool alone) const {
    float* dy = Gradient(n);
    activation_.BackwardPart(n * out_size_, out_size_, dy);
    if (sums_ != nullptr) {
      float* sums = sums_->data + (alone ? 1 : 1 + n) * out_;
      kernels_.column_sums(dy, pixels_, out_, sums);
      if (alone) kernels_.add(sums, out_, sums_->data);
    }
    if (kernel_gradient_ != nullptr && alone) AddKernelGradient(n, 0, taps_, part);
    if (padded_gradient_ == nullptr) return;
    if (unit_stride_) {
      InputGradient(n, dy, part);
    } else {
      StridedInputGradient(n, dy, part);
    }
  }

  // What BackwardImage() leaves out when a team shares the images.
  void AddSharedGradients() const {
    if (sums_ != nullptr) {
      for (int64_t n = 0; n < node_.batch; ++n) {
        kernels_.add(sums_->data + (1 + n) * out_, out_, sums_->data);
      }
    }
    if (kernel_gradient_ == nullptr) return;
    RunShares(node_.team, taps_, Work(), [&](int64_t first, int64_t last, int part) {
      for (int64_t n = 0; n < node_.batch; ++n) AddKernelGradient(n, first, last, part);
    });
  }

  float* Gradient(int64_t n) const { return node_.output->gradient->data + n * out_size_; }

  int64_t GradientPairs() const {
    return Bf16PackedSize(out_, s_.height.output * Pairs(s_.width.output));
  }

  // One rounded image with its padding, and room for the last pair that is read.
  int64_t ImageFloats() const { return Bf16Floats(padded_size_ + 2); }

  // Image n of the input, in the part's share of `images`, which holds zeros for the padding.
  const uint16_t* RoundImage(int64_t n, const PlanBuffer* images, int part) const {
    const float* x = node_.inputs[0]->value->data + n * in_size_;
    uint16_t* image = Bf16Data(images) + part * 2 * ImageFloats();
    uint16_t* out = image + InsideAt(0);
    const int64_t row = in_width_ * in_;
    for (int64_t h = 0; h < in_height_; ++h, x += row, out += padded_row_) {
      bf16_.round(x, row, out);
    }
    return image;
  }

  // The product of all groups, without the segments that lie in padding. Segment s of group g
  // reads row g * stride + s, of which `real` rows from `before` on hold anything.
  void Bands(const Bf16GemmArgs& all, int64_t stride, int64_t before, int64_t real) const {
    const auto first_of = [&](int64_t group) {
      return std::clamp<int64_t>(before - group * stride, 0, all.segments - 1);
    };
    const auto end_of = [&](int64_t group) {
      return std::clamp<int64_t>(before + real - group * stride, first_of(group) + 1, all.segments);
    };
    const int64_t pitch = Bf16Pitch(all.columns);
    int64_t group = 0;
    while (group < all.groups) {
      const int64_t first = first_of(group);
      const int64_t end = end_of(group);
      int64_t next = group + 1;
      while (next < all.groups && first_of(next) == first && end_of(next) == end) ++next;
      Bf16GemmArgs args = all;
      args.groups = next - group;
      args.segments = end - first;
      args.a += group * all.a_group + first * all.a_segment;
      args.b += first * all.pairs * pitch;
      args.c += group * all.c_group;
      bf16_.gemm(args);
      group = next;
    }
  }

  // Sums over the pixels of one image, for the weights `first` .. last - 1 of each filter. A pair
  // is made of the inputs of two neighbouring outputs.
  void AddKernelGradient(int64_t n, int64_t first, int64_t last, int part) const {
    const uint16_t* x = RoundImage(n, backward_image_, part);
    const float* dy = Gradient(n);
    const int64_t ahead = s_.stride_width * in_;
    // The last pixels have no neighbour; where one is read, the gradient beside it is zero.
    const int64_t paired = std::max<int64_t>(padded_size_ - ahead, 0);
    uint32_t* pairs = PairData(pixel_pairs_) + part * padded_size_;
    bf16_.pair_rounded_rows(x, ahead, 2, paired, paired, paired, pairs);
    bf16_.pair_rounded_rows(x + paired, 0, 1, padded_size_ - paired, padded_size_ - paired, 0,
                            pairs + paired);
    const int64_t row_pairs = Pairs(s_.width.output);
    const int64_t all_pairs = s_.height.output * row_pairs;
    uint32_t* gradient = PairData(gradient_pairs_) + part * GradientPairs();
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      PackRows(bf16_, dy + oh * out_row_, out_, s_.width.output, out_, oh * row_pairs, all_pairs,
               gradient);
    }
    Bf16GemmArgs args;
    args.columns = out_;
    args.segments = s_.height.output;
    args.pairs = row_pairs;
    args.a_group = 2 * padded_row_;
    args.a_row = 2;
    args.a_segment = 2 * s_.stride_height * padded_row_;
    args.a_pair = 4 * ahead;
    args.b = gradient;
    args.b_panel = all_pairs * Bf16Pitch(out_);
    args.c_group = row_taps_ * out_;
    args.c_row = out_;
    args.accumulate = n > 0;
    // Whole rows of the window at once, and the parts of rows before and behind them.
    while (first < last) {
      const int64_t row = first / row_taps_;
      const int64_t skipped = first - row * row_taps_;
      args.groups = skipped > 0 ? 1 : std::max<int64_t>((last - first) / row_taps_, 1);
      args.rows = std::min(row_taps_ - skipped, last - first);
      args.a = reinterpret_cast<const uint16_t*>(pairs) + row * args.a_group + skipped * args.a_row;
      args.c = kernel_gradient_->data + first * out_;
      bf16_.gemm(args);
      first += args.groups * args.rows;
    }
  }

  // Packed as [h][w][out][in] = kernel[out][last - h][last - w][in]
  void Flip(const uint16_t* kernel) {
    const int64_t pairs = Pairs(out_);
    const int64_t all_pairs = s_.kernel_height * s_.kernel_width * pairs;
    int64_t first = 0;
    for (int64_t h = s_.kernel_height; h-- > 0;) {
      for (int64_t w = s_.kernel_width; w-- > 0; first += pairs) {
        PackRoundedRows(bf16_, kernel + h * row_taps_ + w * in_, taps_, out_, in_, first, all_pairs,
                        PairData(flipped_));
      }
    }
  }

  // The gradient, with zeros around it, convolved with the flipped kernel.
  void InputGradient(int64_t n, const float* dy, int part) const {
    const int64_t top = s_.kernel_height - 1 - s_.height.before;
    const int64_t left = s_.kernel_width - 1 - s_.width.before;
    uint16_t* padded = Bf16Data(padded_gradient_) + part * 2 * padded_gradient_size_;
    uint16_t* to = padded + top * padded_gradient_row_ + left * even_out_;
    for (int64_t oh = 0; oh < s_.height.output; ++oh, to += padded_gradient_row_) {
      RoundRows(bf16_, dy + oh * out_row_, s_.width.output, out_, to);
    }
    Bf16GemmArgs args;
    args.groups = in_height_;
    args.rows = in_width_;
    args.columns = in_;
    args.segments = s_.kernel_height;
    args.pairs = s_.kernel_width * Pairs(out_);
    args.a = padded;
    args.a_group = padded_gradient_row_;
    args.a_row = even_out_;
    args.a_segment = padded_gradient_row_;
    args.b = PairData(flipped_);
    args.b_panel = s_.kernel_height * args.pairs * Bf16Pitch(in_);
    args.c = node_.inputs[0]->gradient->data + n * in_size_;
    args.c_group = in_width_ * in_;
    args.c_row = in_;
    args.accumulate = node_.input_accumulates[0] != 0;
    Bands(args, 1, top, s_.height.output);
  }

  // With strides: each output's gradient times the kernel, added where its window lies.
  void StridedInputGradient(int64_t n, const float* dy, int part) const {
    float* padded = padded_gradient_->data + part * padded_gradient_size_;
    float* columns = columns_->data + part * s_.width.output * taps_;
    uint16_t* rounded = Bf16Data(row_gradient_) + part * s_.width.output * even_out_;
    std::memset(padded, 0, static_cast<size_t>(padded_gradient_size_) * sizeof(float));
    Bf16GemmArgs args;
    args.rows = s_.width.output;
    args.columns = taps_;
    args.pairs = Pairs(out_);
    args.a = rounded;
    args.a_row = even_out_;
    args.b = PairData(flipped_);
    args.b_panel = args.pairs * Bf16Pitch(taps_);
    args.c = columns;
    args.c_row = taps_;
    for (int64_t oh = 0; oh < s_.height.output; ++oh) {
      RoundRows(bf16_, dy + oh * out_row_, s_.width.output, out_, rounded);
      bf16_.gemm(args);
      for (int64_t kh = 0; kh < s_.kernel_height; ++kh) {
        float* to = padded + (oh * s_.stride_height + kh) * padded_row_;
        for (int64_t ow = 0; ow < s_.width.output; ++ow) {
          kernels_.add(columns + ow * taps_ + kh * row_taps_, row_taps_,
                       to + ow * s_.stride_width * in_);
        }
      }
    }
    DeliverImage(n, padded);
  }

  const Bf16Kernels& bf16_;
  const int64_t row_taps_;  // weights of a filter under one row of the window
  const int64_t out_row_;
  const int64_t even_out_;
  const bool unit_stride_;
  int64_t padded_gradient_row_ = 0;
  int64_t padded_gradient_size_ = 0;  // floats of one part
  PlanBuffer* packed_ = nullptr;      // kernel [tap][out]
  PlanBuffer* image_ = nullptr;       // each part's rounded image with padding
  PlanBuffer* backward_image_ = nullptr;
  PlanBuffer* pixel_pairs_ = nullptr;      // of those images
  PlanBuffer* gradient_pairs_ = nullptr;   // an image's of each part, packed [pixel][out]
  PlanBuffer* sums_ = nullptr;             // gradient of the bias, and of one image or of each
  PlanBuffer* kernel_gradient_ = nullptr;  // [tap][out], then as it is stored
  PlanBuffer* flipped_ = nullptr;
  PlanBuffer* padded_gradient_ = nullptr;  // an image's gradient of each part with room around it
  PlanBuffer* row_gradient_ = nullptr;
  PlanBuffer* columns_ = nullptr;  // one row of outputs' gradient by the inputs of each
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedConv2DBf16(PlanNode* node, const ConvSizes& sizes,
                                                 const ActivationSpec& activation) {
  return std::make_unique<PlannedConv2DBf16>(node, sizes, activation);
}

}  // namespace hopper
