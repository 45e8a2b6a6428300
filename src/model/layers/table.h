// All layers: a row each, under the names of Keras' classes and in their order.
#pragma once

#include "model/layers/activation/activation.h"
#include "model/layers/activation/elu.h"
#include "model/layers/activation/leaky_relu.h"
#include "model/layers/activation/relu.h"
#include "model/layers/activation/softmax.h"
#include "model/layers/activation/thresholded_relu.h"
#include "model/layers/add/add.h"
#include "model/layers/batch_normalization/batch_normalization.h"
#include "model/layers/concatenate/concatenate.h"
#include "model/layers/conv_2d/conv_2d.h"
#include "model/layers/dense/dense.h"
#include "model/layers/dropout/dropout.h"
#include "model/layers/flatten/flatten.h"
#include "model/layers/global_pooling_2d/global_pooling_2d.h"
#include "model/layers/input_layer/input_layer.h"
#include "model/layers/pooling_2d/pooling_2d.h"
#include "model/layers/rescaling/rescaling.h"
#include "model/layers/reshape/reshape.h"

namespace hopper {

template <typename... L>
struct LayerList {};

using Layers =
    LayerList<layers::ActivationByName, layers::Add, layers::AveragePooling2D,
              layers::BatchNormalization, layers::Concatenate, layers::Conv2D, layers::Dense,
              layers::Dropout, layers::ELU, layers::Flatten, layers::GlobalAveragePooling2D,
              layers::GlobalMaxPooling2D, layers::InputLayer, layers::LeakyReLU,
              layers::MaxPooling2D, layers::ReLU, layers::Rescaling, layers::Reshape,
              layers::Softmax, layers::ThresholdedReLU>;

}  // namespace hopper
