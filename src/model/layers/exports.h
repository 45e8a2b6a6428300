// The layers that have a form for other tools: a line for each Export(), which is defined in the
// layer's folder.
#pragma once

#include "model/exported/export_layer.h"
#include "model/layers/table.h"

namespace hopper {
namespace layers {

ops::Value Export(const ActivationLayer& layer, const ExportCall& call);
ops::Value Export(const ActivityRegularization& layer, const ExportCall& call);
ops::Value Export(const BatchNormalization& layer, const ExportCall& call);
ops::Value Export(const Bidirectional& layer, const ExportCall& call);
ops::Value Export(const Border2D& layer, const ExportCall& call);
ops::Value Export(const CategoryEncoding& layer, const ExportCall& call);
ops::Value Export(const Concatenate& layer, const ExportCall& call);
ops::Value Export(const Conv1D& layer, const ExportCall& call);
ops::Value Export(const Conv1DTranspose& layer, const ExportCall& call);
ops::Value Export(const Conv2D& layer, const ExportCall& call);
ops::Value Export(const Conv2DTranspose& layer, const ExportCall& call);
ops::Value Export(const Cropping1D& layer, const ExportCall& call);
ops::Value Export(const Dense& layer, const ExportCall& call);
ops::Value Export(const DepthwiseConv1D& layer, const ExportCall& call);
ops::Value Export(const DepthwiseConv2D& layer, const ExportCall& call);
ops::Value Export(const Discretization& layer, const ExportCall& call);
ops::Value Export(const Dot& layer, const ExportCall& call);
ops::Value Export(const DotAttention& layer, const ExportCall& call);
ops::Value Export(const DropoutLayer& layer, const ExportCall& call);
ops::Value Export(const Embedding& layer, const ExportCall& call);
ops::Value Export(const Flatten& layer, const ExportCall& call);
ops::Value Export(const GaussianDropout& layer, const ExportCall& call);
ops::Value Export(const GaussianNoise& layer, const ExportCall& call);
ops::Value Export(const GlobalPooling1D& layer, const ExportCall& call);
ops::Value Export(const GlobalPooling2D& layer, const ExportCall& call);
ops::Value Export(const GroupNormalization& layer, const ExportCall& call);
ops::Value Export(const HeadAttention& layer, const ExportCall& call);
ops::Value Export(const Identity& layer, const ExportCall& call);
ops::Value Export(const InputLayer& layer, const ExportCall& call);
ops::Value Export(const LayerNormalization& layer, const ExportCall& call);
ops::Value Export(const LayerScale& layer, const ExportCall& call);
ops::Value Export(const MaskingLayer& layer, const ExportCall& call);
ops::Value Export(const Merge& layer, const ExportCall& call);
ops::Value Export(const Normalization& layer, const ExportCall& call);
ops::Value Export(const PReLU& layer, const ExportCall& call);
ops::Value Export(const Permute& layer, const ExportCall& call);
ops::Value Export(const Pooling1D& layer, const ExportCall& call);
ops::Value Export(const Pooling2D& layer, const ExportCall& call);
ops::Value Export(const RMSNormalization& layer, const ExportCall& call);
ops::Value Export(const RandomImage& layer, const ExportCall& call);
ops::Value Export(const Recurrent& layer, const ExportCall& call);
ops::Value Export(const RepeatVector& layer, const ExportCall& call);
ops::Value Export(const Rescaling& layer, const ExportCall& call);
ops::Value Export(const Reshape& layer, const ExportCall& call);
ops::Value Export(const Resized& layer, const ExportCall& call);
ops::Value Export(const SeparableConv1D& layer, const ExportCall& call);
ops::Value Export(const SeparableConv2D& layer, const ExportCall& call);
ops::Value Export(const SpatialDropout1D& layer, const ExportCall& call);
ops::Value Export(const TimeDistributed& layer, const ExportCall& call);
ops::Value Export(const UnitNormalization& layer, const ExportCall& call);
ops::Value Export(const UpSampling1D& layer, const ExportCall& call);
ops::Value Export(const UpSampling2D& layer, const ExportCall& call);
ops::Value Export(const ZeroPadding1D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
