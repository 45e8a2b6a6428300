// Convolutions of each channel by itself as planned ops.
#pragma once

#include <memory>

#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"
#include "model/planned/planned_activation.h"

namespace hopper {

struct DepthwiseForm {
  bool use_bias = false;
  bool by_channel = false;  // the kernel lies as [channels][height][width]
  ActivationSpec activation;
};

// The node's weights are the kernel [height][width][channels] and the bias. In float32 also where
// node->bf16 is not null: it waits for memory. Channels have one output each.
std::unique_ptr<PlannedOp> MakePlannedDepthwise(PlanNode* node, const layers::ConvWindow& window,
                                                const DepthwiseForm& form);

}  // namespace hopper
