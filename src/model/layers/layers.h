// The Make functions of all layers, one a row of the layer table.
#pragma once

#include <memory>

#include "model/layer.h"

namespace hopper {

std::unique_ptr<Layer> MakeDense(LayerConfig& config);
std::unique_ptr<Layer> MakeConv2D(LayerConfig& config);
std::unique_ptr<Layer> MakeMaxPooling2D(LayerConfig& config);
std::unique_ptr<Layer> MakeAveragePooling2D(LayerConfig& config);
std::unique_ptr<Layer> MakeGlobalAveragePooling2D(LayerConfig& config);
std::unique_ptr<Layer> MakeGlobalMaxPooling2D(LayerConfig& config);
std::unique_ptr<Layer> MakeFlatten(LayerConfig& config);
std::unique_ptr<Layer> MakeReshape(LayerConfig& config);
std::unique_ptr<Layer> MakeDropout(LayerConfig& config);
std::unique_ptr<Layer> MakeActivation(LayerConfig& config);
std::unique_ptr<Layer> MakeReLU(LayerConfig& config);
std::unique_ptr<Layer> MakeLeakyReLU(LayerConfig& config);
std::unique_ptr<Layer> MakeELU(LayerConfig& config);
std::unique_ptr<Layer> MakeSoftmax(LayerConfig& config);
std::unique_ptr<Layer> MakeBatchNormalization(LayerConfig& config);
std::unique_ptr<Layer> MakeRescaling(LayerConfig& config);
std::unique_ptr<Layer> MakeAdd(LayerConfig& config);
std::unique_ptr<Layer> MakeConcatenate(LayerConfig& config);

}  // namespace hopper
