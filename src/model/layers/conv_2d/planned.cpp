// Which planned form a convolution takes.
#include "model/layers/conv_2d/planned.h"

#include "model/layers/conv_2d/conv_2d.h"
#include "model/layers/depthwise_conv_2d/planned.h"
#include "model/planned/planned_bf16.h"

namespace hopper {

ConvSizes SizesOf(const layers::Conv2D& layer, const Shape& image) {
  ConvSizes sizes;
  sizes.kernel_height = layer.kernel[0];
  sizes.kernel_width = layer.kernel[1];
  sizes.stride_height = layer.strides[0];
  sizes.stride_width = layer.strides[1];
  sizes.dilation_height = layer.dilation[0];
  sizes.dilation_width = layer.dilation[1];
  sizes.groups = layer.groups;
  sizes.height = layer.Slide(image[0], 0);
  sizes.width = layer.Slide(image[1], 1);
  sizes.use_bias = layer.use_bias;
  return sizes;
}

namespace layers {
namespace {

// Inputs times outputs of a group from which the planned form is faster than libtorch, unless
// there are few groups.
constexpr int64_t kSmallestGroup = 16;
constexpr int64_t kFewGroups = 8;
// Cells of a padded image up to which padding for cells of the window that never meet the image
// does no harm.
constexpr int64_t kSmallPadded = 4096;

// Multiplications from which RunShares() may share a convolution.
constexpr int64_t kShared = 200 * 1000;

int64_t PaddedCells(const Shape& image, const ConvSizes& sizes) {
  return ElementCount({image[0] + sizes.height.before + sizes.height.after,
                       image[1] + sizes.width.before + sizes.width.after});
}

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Conv2D& layer, PlanNode* node) {
  const bool applies = AppliesActivation(layer.activation, *node);
  if (!PlannedActivation::Supports(layer.activation, applies, node->output->shape)) return nullptr;
  const Shape& image = node->inputs[0]->shape;
  const ConvSizes sizes = SizesOf(layer, image);
  if (layer.groups > 1 && layer.groups == image[2] && layer.groups == layer.filters) {
    DepthwiseForm form;
    form.use_bias = layer.use_bias;
    form.by_channel = true;
    form.activation = layer.activation;
    return MakePlannedDepthwise(node, layer, form);
  }
  // The planned forms pad for the whole window.
  const bool reached = sizes.height.unreached == 0 && sizes.width.unreached == 0;
  if (!reached && PaddedCells(image, sizes) > kSmallPadded) return nullptr;
  if (layer.groups != 1 || layer.dilation[0] != 1 || layer.dilation[1] != 1) {
    // A product for each group is slow where they are many and tiny (bench/step_bench).
    const int64_t group = (image[2] / layer.groups) * (layer.filters / layer.groups);
    if (layer.groups > kFewGroups && group < kSmallestGroup) return nullptr;
    return MakePlannedGroupedConv2D(node, sizes, layer.activation);
  }
  // What a team shares takes rounded operands, for which no sum is cut: in float32 a kernel's
  // gradient is, so that its bits would depend on the team.
  const int64_t rows = node->output->size / layer.filters;
  const int64_t length = layer.kernel[0] * layer.kernel[1] * image[2];
  if (RoundsOperands(*node, rows, layer.filters, length) ||
      (node->bf16 != nullptr && ElementCount({rows, layer.filters, length}) >= kShared)) {
    return MakePlannedConv2DBf16(node, sizes, layer.activation);
  }
  return MakePlannedConv2D(node, sizes, layer.activation);
}

}  // namespace layers
}  // namespace hopper
