#include "model/layer.h"

namespace hopper {

namespace {

size_t PlaceOf(const std::string& class_name) {
  const LayerType* type = FindLayerType(class_name);
  if (type == nullptr) throw Error(ErrorCode::kInternal, "no layer \"" + class_name + "\"");
  return static_cast<size_t>(type - LayerTable().data());
}

}  // namespace

Layer::Layer(LayerConfig& config)
    : name_(config.name()),
      class_name_(config.class_name()),
      trainable_(config.trainable()),
      place_(PlaceOf(class_name_)),
      activity_regularizer_(config.GetRegularizer("activity_regularizer")) {}

std::vector<WeightSpec> Layer::Weights(const std::vector<Shape>& /*inputs*/) const { return {}; }

int64_t Layer::Flops(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

int64_t Layer::AutogradFloats(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

}  // namespace hopper
