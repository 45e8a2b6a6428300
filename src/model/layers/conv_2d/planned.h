// Two-dimensional convolution as a planned op.
#pragma once

#include <memory>

#include "model/layers/window.h"
#include "model/planned/planned_activation.h"

namespace hopper {
namespace layers {
struct Conv2D;
}

// What a convolution is made of.
struct ConvSizes {
  int64_t kernel_height = 0, kernel_width = 0;
  int64_t stride_height = 0, stride_width = 0;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t groups = 1;
  WindowAxis height, width;  // output sizes and padding
  bool use_bias = false;
};

// Of a layer over images of this shape.
ConvSizes SizesOf(const layers::Conv2D& layer, const Shape& image);

// The node's weights are the kernel, stored as [out][kernel height][kernel width][in / groups],
// and the bias. Without groups and dilation.
std::unique_ptr<PlannedOp> MakePlannedConv2D(PlanNode* node, const ConvSizes& sizes,
                                             const ActivationSpec& activation);

// As MakePlannedConv2D() with products of bfloat16 operands; node->bf16 is not null.
std::unique_ptr<PlannedOp> MakePlannedConv2DBf16(PlanNode* node, const ConvSizes& sizes,
                                                 const ActivationSpec& activation);

// The form for groups and dilation, in fp32.
std::unique_ptr<PlannedOp> MakePlannedGroupedConv2D(PlanNode* node, const ConvSizes& sizes,
                                                    const ActivationSpec& activation);

// The form for windows of 3 x 3 over many channels, where PrefersWinograd(); a function of the
// sizes and the numbers of channels only. The direct one serves all others.
bool PrefersWinograd(const ConvSizes& sizes, int64_t in, int64_t out);
// How many outputs one of its tiles has in a row: 4 for short sums over small windows, where an
// image has several such tiles and they save a quarter of the products; 2 elsewhere.
int64_t WinogradOutputs(const ConvSizes& sizes, int64_t in, int64_t out);
std::unique_ptr<PlannedOp> MakePlannedWinograd(PlanNode* node, const ConvSizes& sizes,
                                               const ActivationSpec& activation);

// The form for windows of one pixel and for large kernels, where PrefersColumns(); a function of
// the sizes only.
bool PrefersColumns(const PlanNode& node, const ConvSizes& sizes);
std::unique_ptr<PlannedOp> MakePlannedColumns(PlanNode* node, const ConvSizes& sizes,
                                              const ActivationSpec& activation);

}  // namespace hopper
