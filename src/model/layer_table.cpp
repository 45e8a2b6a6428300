#include "model/layers/layers.h"

namespace hopper {

const std::vector<LayerType>& LayerTable() {
  static const std::vector<LayerType> table = {
      {"Activation", "", "an activation function by name", MakeActivation},
      {"Add", "", "sum of inputs", MakeAdd},
      {"AveragePooling2D", "", "average over windows of an image", MakeAveragePooling2D},
      {"BatchNormalization", "gamma, beta, moving_mean, moving_variance",
       "normalization by the batch's mean and variance", MakeBatchNormalization},
      {"Concatenate", "", "inputs joined along one axis", MakeConcatenate},
      {"Conv2D", "kernel, bias", "convolution over images", MakeConv2D},
      {"Dense", "kernel, bias", "fully connected: activation(x * kernel + bias)", MakeDense},
      {"Dropout", "", "sets a random share of its inputs to zero in training", MakeDropout},
      {"ELU", "", "exponential linear unit", MakeELU},
      {"Flatten", "", "all axes in one", MakeFlatten},
      {"GlobalAveragePooling2D", "", "average over a whole image", MakeGlobalAveragePooling2D},
      {"GlobalMaxPooling2D", "", "maximum over a whole image", MakeGlobalMaxPooling2D},
      {"LeakyReLU", "", "rectifier with a slope below zero", MakeLeakyReLU},
      {"MaxPooling2D", "", "maximum over windows of an image", MakeMaxPooling2D},
      {"ReLU", "", "rectifier, with maximum, slope and threshold", MakeReLU},
      {"Rescaling", "", "x * scale + offset", MakeRescaling},
      {"Reshape", "", "another shape of the same values", MakeReshape},
      {"Softmax", "", "probabilities along an axis", MakeSoftmax},
  };
  return table;
}

const LayerType* FindLayerType(const std::string& class_name) {
  for (const LayerType& type : LayerTable()) {
    if (class_name == type.class_name) return &type;
  }
  return nullptr;
}

}  // namespace hopper
