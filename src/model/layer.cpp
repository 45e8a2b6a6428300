#include "model/layer.h"

namespace hopper {

namespace {

const LayerType& TypeOf(const std::string& class_name) {
  const LayerType* type = FindLayerType(class_name);
  if (type == nullptr) throw Error(ErrorCode::kInternal, "no layer \"" + class_name + "\"");
  return *type;
}

}  // namespace

Layer::Layer(LayerConfig& config)
    : name_(config.name()),
      class_name_(TypeOf(config.class_name()).class_name),
      trainable_(config.trainable()),
      place_(static_cast<size_t>(&TypeOf(class_name_) - LayerTable().data())),
      activity_regularizer_(config.GetRegularizer("activity_regularizer")) {}

std::vector<WeightSpec> Layer::Weights(const std::vector<Shape>& /*inputs*/) const { return {}; }

int64_t Layer::Flops(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

int64_t Layer::AutogradFloats(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

}  // namespace hopper
