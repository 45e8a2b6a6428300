// Convolution with windows of 3 x 3 and stride 1 by Winograd's F(2 x 2, 3 x 3): 2.25 times fewer
// multiplications than the direct form. Tiles of 4 x 4 inputs are transformed, a block of them at
// a time so that it stays in the second-level cache; each of their 16 cells is then one matrix
// product of tiles by channels, and tiles of 2 x 2 outputs are transformed back.
//
// Rounding differs from the direct form by a small factor; infinities become NaN in a tile. A team
// shares the images; each member has its own tiles and sums, which are added in their order.
#include <algorithm>
#include <cstring>

#include "model/layers/conv_2d/planned.h"

namespace hopper {
namespace {

using During = PlanNode::During;

constexpr int64_t kCells = 16;  // of a transformed tile
// Floats that a block's transformed tiles take, inputs and outputs together.
constexpr int64_t kBlockFloats = kCells * 5120;
constexpr int64_t kTileStep = 12;  // rows that the matrix product takes at once

// One convolution of images: of the inputs, or of the outputs' gradient with the flipped windows.
struct Side {
  TileArgs from;
  TileArgs to;
  int64_t block = 0;  // tiles
  int64_t tiles = 0;  // in an image
};

Side MakeSide(int64_t in_height, int64_t in_width, int64_t in, int64_t out_height,
              int64_t out_width, int64_t out, int64_t before_height, int64_t before_width) {
  Side side;
  side.from.height = in_height;
  side.from.width = in_width;
  side.from.channels = in;
  side.from.before_height = before_height;
  side.from.before_width = before_width;
  side.to.height = out_height;
  side.to.width = out_width;
  side.to.channels = out;
  side.from.rows = side.to.rows = (out_height + 1) / 2;
  side.from.columns = side.to.columns = (out_width + 1) / 2;
  side.tiles = side.to.rows * side.to.columns;
  side.block = std::max<int64_t>(1, kBlockFloats / kCells / (in + out) / kTileStep) * kTileStep;
  return side;
}

int64_t BlockFloats(const Side& side, int64_t channels) { return kCells * side.block * channels; }

class PlannedWinograd : public PlannedOp {
 public:
  PlannedWinograd(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : node_(*node),
        kernels_(*node->kernels),
        use_bias_(sizes.use_bias),
        activation_(node, activation),
        in_(node->inputs[0]->shape[2]),
        out_(node->output->shape[2]),
        forward_(MakeSide(node->inputs[0]->shape[0], node->inputs[0]->shape[1], in_,
                          sizes.height.output, sizes.width.output, out_, sizes.height.before,
                          sizes.width.before)),
        backward_(MakeSide(sizes.height.output, sizes.width.output, out_, node->inputs[0]->shape[0],
                           node->inputs[0]->shape[1], in_, 2 - sizes.height.before,
                           2 - sizes.width.before)) {
    windows_ = node->Scratch({9, in_, out_}, During::kBoth);
    weights_ = node->Scratch({kCells, in_, out_}, During::kBoth);
    const int64_t parts = node->parts();
    tiles_ = node->Scratch({parts, BlockFloats(forward_, in_)}, During::kForward);
    products_ = node->Scratch({parts, BlockFloats(forward_, out_)}, During::kForward);
    if (!node->backward) return;
    node->keeps_output = activation_.keeps_output();
    if (use_bias_ && node->weights[1].trainable) {
      sums_ = node->Scratch({2, parts, out_}, During::kBackward);
    }
    if (node->weights[0].trainable) {
      node->keeps_inputs = true;
      weight_sums_ = node->Scratch({parts, kCells, in_, out_}, During::kBackward);
      input_tiles_ = node->Scratch({parts, BlockFloats(forward_, in_)}, During::kBackward);
      gradient_tiles_ = node->Scratch({parts, BlockFloats(forward_, out_)}, During::kBackward);
    }
    if (!node->InputNeedsGradient(0)) return;
    back_tiles_ = node->Scratch({parts, BlockFloats(backward_, out_)}, During::kBackward);
    back_products_ = node->Scratch({parts, BlockFloats(backward_, in_)}, During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    // From [out][tap][in] to [tap][in][out].
    kernels_.transpose(step.params + node_.weights[0].offset, out_, 9 * in_, windows_->data);
    kernels_.winograd_weights(windows_->data, in_ * out_, weights_->data);
    const float* bias = use_bias_ ? step.params + node_.weights[1].offset : nullptr;
    float* y = node_.output->value->data;
    RunShares(node_.team, node_.batch, Work(), [&](int64_t first, int64_t last, int part) {
      float* tiles = tiles_->data + part * BlockFloats(forward_, in_);
      float* products = products_->data + part * BlockFloats(forward_, out_);
      const int64_t end = forward_.tiles * last;
      for (int64_t tile = forward_.tiles * first; tile < end; tile += forward_.block) {
        Convolve(forward_, tile, std::min(forward_.block, end - tile), node_.inputs[0]->value->data,
                 tiles, products, bias, activation_.relu(), false, y);
      }
    });
    if (!activation_.none() && !activation_.relu()) activation_.Forward(y, y);
  }

  void Backward(const StepArguments& step) override {
    if (sums_ != nullptr) Clear(sums_);
    if (weight_sums_ != nullptr) Clear(weight_sums_);
    if (node_.InputNeedsGradient(0)) Flip(step.params + node_.weights[0].offset);
    const int parts = RunShares(
        node_.team, node_.batch, Work(),
        [&](int64_t first, int64_t last, int part) { BackwardImages(first, last, part); });
    for (int part = 1; part < parts; ++part) {
      if (sums_ != nullptr) kernels_.add(sums_->data + 2 * part * out_, out_, sums_->data);
      if (weight_sums_ != nullptr) {
        kernels_.add(WeightSums(part), kCells * in_ * out_, weight_sums_->data);
      }
    }
    if (sums_ != nullptr) node_.DeliverGradient(sums_->data, out_, 1, step);
    if (weight_sums_ == nullptr) return;
    // `weights_` is not needed any more: [tap][in][out], then as it is stored.
    kernels_.winograd_weights_gradient(weight_sums_->data, in_ * out_, windows_->data);
    kernels_.transpose(windows_->data, 9 * in_, out_, weights_->data);
    node_.DeliverGradient(weights_->data, 9 * in_ * out_, 0, step);
  }

 private:
  // Operations of one pass over the batch, about.
  double Work() const {
    return 2.0 * static_cast<double>(node_.output->size) * static_cast<double>(4 * in_);
  }
  float* WeightSums(int part) const { return weight_sums_->data + part * kCells * in_ * out_; }

  void BackwardImages(int64_t first_image, int64_t last_image, int part) const {
    const int64_t pixels = forward_.to.height * forward_.to.width;
    const int64_t size = pixels * out_;
    float* sums = sums_ == nullptr ? nullptr : sums_->data + 2 * part * out_;
    int64_t weight_tile = first_image * forward_.tiles;
    int64_t input_tile = first_image * backward_.tiles;
    for (int64_t n = first_image; n < last_image; ++n) {
      // The first images' gradients are taken further while they are in the cache.
      float* dy = node_.output->gradient->data + n * size;
      activation_.BackwardPart(n * size, size, dy);
      if (sums != nullptr) {
        kernels_.column_sums(dy, pixels, out_, sums + out_);
        kernels_.add(sums + out_, out_, sums);
      }
      const bool last = n + 1 == last_image;
      if (weight_sums_ != nullptr) {
        const int64_t ready = (n + 1) * forward_.tiles;
        while (NextBlock(forward_.block, ready, last, weight_tile)) {
          const int64_t count = std::min(forward_.block, ready - weight_tile);
          AddWeightGradient(weight_tile, count, part);
          weight_tile += count;
        }
      }
      if (node_.InputNeedsGradient(0)) {
        const int64_t ready = (n + 1) * backward_.tiles;
        while (NextBlock(backward_.block, ready, last, input_tile)) {
          const int64_t count = std::min(backward_.block, ready - input_tile);
          Convolve(backward_, input_tile, count, node_.output->gradient->data,
                   back_tiles_->data + part * BlockFloats(backward_, out_),
                   back_products_->data + part * BlockFloats(backward_, in_), nullptr, false,
                   node_.input_accumulates[0] != 0, node_.inputs[0]->gradient->data);
          input_tile += count;
        }
      }
    }
  }

  static void Clear(PlanBuffer* buffer) {
    std::memset(buffer->data, 0, static_cast<size_t>(buffer->size) * sizeof(float));
  }
  // Whole blocks as long as images come, the rest with the last one.
  static bool NextBlock(int64_t block, int64_t ready, bool last, int64_t first) {
    return last ? first < ready : first + block <= ready;
  }

  void Convolve(const Side& side, int64_t first, int64_t count, const float* x, float* tiles,
                float* products, const float* bias, bool relu, bool accumulate, float* y) const {
    TileArgs from = side.from;
    TileArgs to = side.to;
    from.first = to.first = first;
    from.count = to.count = count;
    kernels_.winograd_input(from, x, tiles);
    GemmArgs args;
    args.rows = count;
    args.columns = to.channels;
    args.length = from.channels;
    args.a_row = from.channels;
    args.b_row = to.channels;
    args.c_row = to.channels;
    for (int64_t cell = 0; cell < kCells; ++cell) {
      args.a = tiles + cell * count * from.channels;
      args.b = weights_->data + cell * in_ * out_;
      args.c = products + cell * count * to.channels;
      kernels_.gemm(args);
    }
    kernels_.winograd_output(to, products, bias, relu, accumulate, y);
  }

  void AddWeightGradient(int64_t first, int64_t count, int part) const {
    float* input_tiles = input_tiles_->data + part * BlockFloats(forward_, in_);
    float* gradient_tiles = gradient_tiles_->data + part * BlockFloats(forward_, out_);
    TileArgs from = forward_.from;
    TileArgs to = forward_.to;
    from.first = to.first = first;
    from.count = to.count = count;
    kernels_.winograd_input(from, node_.inputs[0]->value->data, input_tiles);
    kernels_.winograd_gradient(to, node_.output->gradient->data, gradient_tiles);
    GemmArgs args;
    args.rows = in_;
    args.columns = out_;
    args.length = count;
    args.a_row = 1;
    args.a_step = in_;
    args.b_row = out_;
    args.c_row = out_;
    args.accumulate = true;
    for (int64_t cell = 0; cell < kCells; ++cell) {
      args.a = input_tiles + cell * count * in_;
      args.b = gradient_tiles + cell * count * out_;
      args.c = WeightSums(part) + cell * in_ * out_;
      kernels_.gemm(args);
    }
  }

  // The transformed windows for the inputs' gradient: [tap][out][in], taps in reverse order.
  void Flip(const float* kernel) const {
    float* to = windows_->data;
    for (int64_t tap = 9; tap-- > 0;) {
      for (int64_t o = 0; o < out_; ++o, to += in_) {
        std::memcpy(to, kernel + (o * 9 + tap) * in_, static_cast<size_t>(in_) * sizeof(float));
      }
    }
    kernels_.winograd_weights(windows_->data, in_ * out_, weights_->data);
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const bool use_bias_;
  const PlannedActivation activation_;
  const int64_t in_;   // channels
  const int64_t out_;  // filters
  const Side forward_;
  const Side backward_;
  PlanBuffer* windows_ = nullptr;         // [tap][in][out], of the pass that runs
  PlanBuffer* weights_ = nullptr;         // [cell][in][out]
  PlanBuffer* tiles_ = nullptr;           // [cell][tile][in]
  PlanBuffer* products_ = nullptr;        // [cell][tile][out]
  PlanBuffer* sums_ = nullptr;            // gradient of the bias, and one image's
  PlanBuffer* weight_sums_ = nullptr;     // [cell][in][out]
  PlanBuffer* input_tiles_ = nullptr;     // [cell][tile][in]
  PlanBuffer* gradient_tiles_ = nullptr;  // [cell][tile][out]
  PlanBuffer* back_tiles_ = nullptr;      // [cell][tile][out]
  PlanBuffer* back_products_ = nullptr;   // [cell][tile][in]
};

}  // namespace

bool PrefersWinograd(const PlanNode& node, const ConvSizes& sizes) {
  // With few channels the transforms cost more than the products save.
  constexpr int64_t kChannels = 16;
  return sizes.kernel_height == 3 && sizes.kernel_width == 3 && sizes.stride_height == 1 &&
         sizes.stride_width == 1 && node.inputs[0]->shape[2] >= kChannels &&
         node.output->shape[2] >= kChannels;
}

std::unique_ptr<PlannedOp> MakePlannedWinograd(PlanNode* node, const ConvSizes& sizes,
                                               const ActivationSpec& activation) {
  return std::make_unique<PlannedWinograd>(node, sizes, activation);
}

}  // namespace hopper
