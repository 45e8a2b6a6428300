// Convolution with windows of 3 x 3 and stride 1 by Winograd's F(2 x 2, 3 x 3), 2.25 times fewer
// multiplications than the direct form, or F(4 x 4, 3 x 3), 4 times fewer. Tiles of 4 x 4 or 6 x 6
// inputs are transformed, a block of them at a time so that it stays in the second-level cache;
// each of their cells is then one matrix product of tiles by channels, and tiles of outputs are
// transformed back. Gradients go the same way backwards: the outputs' tiles, transformed once,
// times those of the inputs are that of the weights, times the weights those of the inputs' tiles.
//
// F(2 x 2, 3 x 3) rounds as the direct form does, F(4 x 4, 3 x 3) three times as coarsely;
// infinities become NaN in a tile. A team shares the images; each member has its own tiles and
// sums, which are added in their order.
#include <algorithm>
#include <cstring>

#include "model/layers/conv_2d/planned.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace {

using During = PlanNode::During;

// Floats that a block's transformed tiles take, inputs and outputs together.
constexpr int64_t kBlockFloats = 81920;
constexpr int64_t kTileStep = 12;   // rows that the matrix product takes at once
constexpr int64_t kLeastSteps = 3;  // of a block, in which the transformed windows are read once

// So many floats, or a few more: an odd number of a cache's lines, so that what lies so far apart
// does not push each other out.
int64_t OddLines(int64_t floats) {
  constexpr int64_t kLine = 16;
  return ((floats + kLine - 1) / kLine | 1) * kLine;
}

int64_t TilesAlong(const WindowAxis& axis, int64_t outputs) {
  return (axis.output + outputs - 1) / outputs;
}

// Of a transformed tile.
int64_t Cells(int64_t outputs) { return (outputs + 2) * (outputs + 2); }

// Of all tiles of an image.
int64_t ImageCells(const ConvSizes& sizes, int64_t outputs) {
  return Cells(outputs) * TilesAlong(sizes.height, outputs) * TilesAlong(sizes.width, outputs);
}

class PlannedWinograd : public PiecewiseOp {
 public:
  PlannedWinograd(PlanNode* node, const ConvSizes& sizes, const ActivationSpec& activation)
      : PiecewiseOp(node->batch),
        node_(*node),
        kernels_(*node->kernels),
        use_bias_(sizes.use_bias),
        activation_(node, activation),
        in_(node->inputs[0]->shape[2]),
        out_(node->output->shape[2]),
        outputs_(WinogradOutputs(sizes, in_, out_)),
        cells_(Cells(outputs_)),
        block_(std::max(kLeastSteps, kBlockFloats / cells_ / (in_ + out_) / kTileStep) *
               kTileStep) {
    input_.height = node->inputs[0]->shape[0];
    input_.width = node->inputs[0]->shape[1];
    input_.channels = in_;
    input_.rows = TilesAlong(sizes.height, outputs_);
    input_.columns = TilesAlong(sizes.width, outputs_);
    input_.before_height = sizes.height.before;
    input_.before_width = sizes.width.before;
    output_ = input_;
    output_.height = sizes.height.output;
    output_.width = sizes.width.output;
    output_.channels = out_;
    windows_ = node->Scratch({9, in_, out_}, During::kBoth);
    weights_ = node->Scratch({cells_, in_, out_}, During::kBoth);
    const int64_t parts = node->parts();
    tiles_ = node->Scratch({parts, CellsFloats(in_)}, During::kForward);
    products_ = node->Scratch({parts, TilesFloats(out_)}, During::kForward);
    if (!node->backward) return;
    node->keeps_output = activation_.keeps_output();
    if (use_bias_ && node->weights[1].trainable) {
      sums_ = node->Scratch({2, parts, out_}, During::kBackward);
    }
    gradient_tiles_ = node->Scratch({parts, CellsFloats(out_)}, During::kBackward);
    if (node->weights[0].trainable) {
      node->keeps_inputs = true;
      weight_sums_ = node->Scratch({parts, cells_, in_, out_}, During::kBackward);
      input_tiles_ = node->Scratch({parts, CellsFloats(in_)}, During::kBackward);
    }
    if (!node->InputNeedsGradient(0)) return;
    input_products_ = node->Scratch({parts, TilesFloats(in_)}, During::kBackward);
  }

  void BeginForward(const StepArguments& step) override {
    // From [out][tap][in] to [tap][in][out].
    kernels_.transpose(step.params + node_.weights[0].offset, out_, 9 * in_, windows_->data);
    kernels_.winograd_weights(outputs_, windows_->data, in_ * out_, weights_->data);
  }

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    const float* bias = use_bias_ ? step.params + node_.weights[1].offset : nullptr;
    float* y = node_.output->value->data;
    RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
      float* tiles = tiles_->data + part * CellsFloats(in_);
      float* products = products_->data + part * TilesFloats(out_);
      const int64_t behind = Tiles() * (begin + last);
      for (int64_t tile = Tiles() * (begin + first); tile < behind; tile += block_) {
        const int64_t count = std::min(block_, behind - tile);
        kernels_.winograd_input(outputs_, ByCells(input_, tile, count),
                                node_.inputs[0]->value->data, tiles);
        Multiply(count, in_, out_, tiles, products);
        kernels_.winograd_output(outputs_, ByTiles(output_, tile, count), products, bias,
                                 activation_.relu(), y);
      }
    });
    if (activation_.none() || activation_.relu()) return;
    const int64_t size = node_.output->size / node_.batch;
    activation_.ForwardPart(begin * size, (end - begin) * size, y + begin * size);
  }

  void BeginBackward(const StepArguments& step) override {
    if (sums_ != nullptr) Clear(sums_);
    if (weight_sums_ != nullptr) Clear(weight_sums_);
    if (node_.InputNeedsGradient(0)) Turn(step.params + node_.weights[0].offset);
  }

  void BackwardPiece(const StepArguments& /*step*/, int64_t begin, int64_t end) override {
    parts_ = RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int part) {
      BackwardImages(begin + first, begin + last, part);
    });
  }

  void EndBackward(const StepArguments& step) override {
    for (int part = 1; part < parts_; ++part) {
      if (sums_ != nullptr) kernels_.add(sums_->data + 2 * part * out_, out_, sums_->data);
      if (weight_sums_ != nullptr) {
        kernels_.add(WeightSums(part), cells_ * in_ * out_, weight_sums_->data);
      }
    }
    if (sums_ != nullptr) node_.DeliverGradient(sums_->data, out_, 1, step);
    if (weight_sums_ == nullptr) return;
    // `weights_` is not needed any more: [tap][in][out], then as it is stored.
    kernels_.winograd_weights_gradient(outputs_, weight_sums_->data, in_ * out_, windows_->data);
    kernels_.transpose(windows_->data, 9 * in_, out_, weights_->data);
    node_.DeliverGradient(weights_->data, 9 * in_ * out_, 0, step);
  }

 private:
  // Operations of one pass over the batch, about.
  double Work() const {
    return 2.0 * static_cast<double>(node_.output->size) * static_cast<double>(4 * in_);
  }
  float* WeightSums(int part) const { return weight_sums_->data + part * cells_ * in_ * out_; }

  // Tiles of an image.
  int64_t Tiles() const { return output_.rows * output_.columns; }
  // Transformed tiles of images, a cell of all tiles after the other: products read them so.
  TileArgs ByCells(TileArgs images, int64_t first, int64_t count) const {
    images.first = first;
    images.count = count;
    images.tile = images.channels;
    images.cell = OddLines(block_ * images.channels);
    return images;
  }
  // A tile after the other: transforms read faster than products write.
  TileArgs ByTiles(TileArgs images, int64_t first, int64_t count) const {
    images.first = first;
    images.count = count;
    images.tile = OddLines(cells_ * images.channels);
    images.cell = images.channels;
    return images;
  }
  // Of a block's tiles.
  int64_t CellsFloats(int64_t channels) const { return cells_ * OddLines(block_ * channels); }
  int64_t TilesFloats(int64_t channels) const { return block_ * OddLines(cells_ * channels); }

  void BackwardImages(int64_t first_image, int64_t last_image, int part) const {
    const int64_t pixels = output_.height * output_.width;
    const int64_t size = pixels * out_;
    float* sums = sums_ == nullptr ? nullptr : sums_->data + 2 * part * out_;
    int64_t tile = first_image * Tiles();
    for (int64_t n = first_image; n < last_image; ++n) {
      // The first images' gradients are taken further while they are in the cache.
      float* dy = node_.output->gradient->data + n * size;
      activation_.BackwardPart(n * size, size, dy);
      if (sums != nullptr) {
        kernels_.column_sums(dy, pixels, out_, sums + out_);
        kernels_.add(sums + out_, out_, sums);
      }
      if (node_.InputNeedsGradient(0) && !node_.input_accumulates[0]) {
        const int64_t inputs = input_.height * input_.width * in_;
        std::fill_n(node_.inputs[0]->gradient->data + n * inputs, inputs, 0.0F);
      }
      // Whole blocks as long as images come, the rest with the last one.
      const int64_t ready = (n + 1) * Tiles();
      while (n + 1 == last_image ? tile < ready : tile + block_ <= ready) {
        const int64_t count = std::min(block_, ready - tile);
        BackwardTiles(tile, count, part);
        tile += count;
      }
    }
  }

  void BackwardTiles(int64_t first, int64_t count, int part) const {
    float* gradients = gradient_tiles_->data + part * CellsFloats(out_);
    kernels_.winograd_gradient(outputs_, ByCells(output_, first, count),
                               node_.output->gradient->data, gradients);
    if (weight_sums_ != nullptr) AddWeightGradient(first, count, gradients, part);
    if (!node_.InputNeedsGradient(0)) return;
    float* products = input_products_->data + part * TilesFloats(in_);
    Multiply(count, out_, in_, gradients, products);
    kernels_.winograd_input_gradient(outputs_, ByTiles(input_, first, count), products,
                                     node_.inputs[0]->gradient->data);
  }

  static void Clear(PlanBuffer* buffer) {
    std::memset(buffer->data, 0, static_cast<size_t>(buffer->size) * sizeof(float));
  }

  // Of each cell: tiles of `from` channels times the transformed windows, tiles of `to` channels.
  void Multiply(int64_t count, int64_t from, int64_t to, const float* tiles,
                float* products) const {
    GemmArgs args;
    args.rows = count;
    args.columns = to;
    args.length = from;
    args.a_row = from;
    args.b_row = to;
    args.c_row = OddLines(cells_ * to);
    for (int64_t cell = 0; cell < cells_; ++cell) {
      args.a = tiles + cell * OddLines(block_ * from);
      args.b = weights_->data + cell * from * to;
      args.c = products + cell * to;
      kernels_.gemm(args);
    }
  }

  void AddWeightGradient(int64_t first, int64_t count, const float* gradients, int part) const {
    float* inputs = input_tiles_->data + part * CellsFloats(in_);
    kernels_.winograd_input(outputs_, ByCells(input_, first, count), node_.inputs[0]->value->data,
                            inputs);
    GemmArgs args;
    args.rows = in_;
    args.columns = out_;
    args.length = count;
    args.a_row = 1;
    args.a_step = in_;
    args.b_row = out_;
    args.c_row = out_;
    args.accumulate = true;
    for (int64_t cell = 0; cell < cells_; ++cell) {
      args.a = inputs + cell * OddLines(block_ * in_);
      args.b = gradients + cell * OddLines(block_ * out_);
      args.c = WeightSums(part) + cell * in_ * out_;
      kernels_.gemm(args);
    }
  }

  // The transformed windows for the inputs' gradient: [cell][out][in].
  void Turn(const float* kernel) const {
    float* to = windows_->data;
    for (int64_t tap = 0; tap < 9; ++tap) {
      for (int64_t o = 0; o < out_; ++o, to += in_) {
        std::memcpy(to, kernel + (o * 9 + tap) * in_, static_cast<size_t>(in_) * sizeof(float));
      }
    }
    kernels_.winograd_weights(outputs_, windows_->data, in_ * out_, weights_->data);
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const bool use_bias_;
  const PlannedActivation activation_;
  const int64_t in_;       // channels
  const int64_t out_;      // filters
  const int64_t outputs_;  // of a tile, in a row
  const int64_t cells_;    // of a transformed tile
  const int64_t block_;    // tiles
  int parts_ = 1;          // that have sums
  TileArgs input_;         // tiles of the images
  TileArgs output_;
  PlanBuffer* windows_ = nullptr;         // [tap][in][out], backward [tap][out][in]
  PlanBuffer* weights_ = nullptr;         // [cell] of these
  PlanBuffer* tiles_ = nullptr;           // [cell][tile][in]
  PlanBuffer* products_ = nullptr;        // [tile][cell][out]
  PlanBuffer* sums_ = nullptr;            // gradient of the bias, and one image's
  PlanBuffer* weight_sums_ = nullptr;     // [cell][in][out]
  PlanBuffer* input_tiles_ = nullptr;     // [cell][tile][in]
  PlanBuffer* gradient_tiles_ = nullptr;  // [cell][tile][out]
  PlanBuffer* input_products_ = nullptr;  // [tile][cell][in]
};

}  // namespace

bool PrefersWinograd(const ConvSizes& sizes, int64_t in, int64_t out) {
  // With few channels the transforms cost more than the products save.
  constexpr int64_t kChannels = 16;
  if (sizes.kernel_height != 3 || sizes.kernel_width != 3 || sizes.stride_height != 1 ||
      sizes.stride_width != 1 || sizes.dilation_height != 1 || sizes.dilation_width != 1 ||
      sizes.groups != 1 || in < kChannels || out < kChannels) {
    return false;
  }
  if (9 * in * out < kLargeWeights) return true;
  // Large windows become 16 numbers of 9, for each piece of a batch: they want some tiles an image,
  // most of whose outputs are inside, and a third-level cache.
  constexpr int64_t kLargest = 256 * 256;
  const int64_t cells = ImageCells(sizes, 2);
  const int64_t pixels = sizes.height.output * sizes.width.output;
  return in * out <= kLargest && cells >= 4 * Cells(2) && 3 * cells <= 2 * 9 * pixels;
}

int64_t WinogradOutputs(const ConvSizes& sizes, int64_t in, int64_t out) {
  // Rounding grows with the root of a sum's length: over 32 channels that of large tiles is below
  // that of the direct form over 256.
  constexpr int64_t kChannels = 32;
  // 36 transformed windows of 64 x 64 channels leave the second-level cache, in which 16 stay.
  constexpr int64_t kLargest = 32 * 64;
  if (in > kChannels || in * out > kLargest) return 2;
  // Of larger tiles those at the borders lose more, and an image of one tile has few rows for the
  // 36 numbers of each window.
  const int64_t cells = ImageCells(sizes, 4);
  return cells > Cells(4) && 4 * cells <= 3 * ImageCells(sizes, 2) ? 4 : 2;
}

std::unique_ptr<PlannedOp> MakePlannedWinograd(PlanNode* node, const ConvSizes& sizes,
                                               const ActivationSpec& activation) {
  return std::make_unique<PlannedWinograd>(node, sizes, activation);
}

}  // namespace hopper
