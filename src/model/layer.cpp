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
      activity_regularizer_(config.GetRegularizer("activity_regularizer")),
      lr_factors_(config.Factors("lr_factor")),
      decay_factors_(config.Factors("weight_decay_factor")) {}

void Layer::ApplyFactors(std::vector<WeightSpec>* weights) const {
  const auto apply = [&](const char* key, const WeightFactors& factors,
                         double WeightSpec::*member) {
    for (const auto& [name, factor] : factors) {
      bool found = name.empty();
      for (WeightSpec& weight : *weights) {
        const bool its_own = factors.count(weight.name) != 0;
        if (name.empty() ? its_own : weight.name != name) continue;
        weight.*member = factor;
        found = true;
      }
      if (found) continue;
      std::vector<std::string> names;
      for (const WeightSpec& weight : *weights) names.push_back(weight.name);
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name_ + "\" of class " + class_name_ + ": argument \"" + key +
                      "\" names the weight \"" + name + "\", which it does not have",
                  "", NearestNameHint(name, names));
    }
  };
  apply("lr_factor", lr_factors_, &WeightSpec::lr_factor);
  apply("weight_decay_factor", decay_factors_, &WeightSpec::decay_factor);
}

std::vector<WeightSpec> Layer::Weights(const std::vector<Shape>& /*inputs*/) const { return {}; }

int64_t Layer::Flops(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

int64_t Layer::AutogradFloats(const std::vector<Shape>& /*inputs*/, const Shape& /*output*/) const {
  return 0;
}

}  // namespace hopper
