#include "model/layer.h"

namespace hopper {

Layer::Layer(const LayerConfig& config)
    : name_(config.name()), class_name_(config.class_name()), trainable_(config.trainable()) {}

std::vector<WeightSpec> Layer::Weights(const std::vector<Shape>& /*inputs*/) const { return {}; }

int64_t Layer::Flops(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

}  // namespace hopper
