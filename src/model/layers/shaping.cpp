// Flatten and Reshape: the same values under another shape.
#include <algorithm>

#include "model/layers/layers.h"
#include "model/layers/window.h"

#ifdef HOPPER_TORCH
#include "model/planned_op.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
at::Tensor WithShape(const at::Tensor& x, const Shape& shape) {
  std::vector<int64_t> sizes;
  sizes.reserve(shape.size() + 1);
  sizes.push_back(x.size(0));
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return x.reshape(sizes);
}

Shape ExampleShape(const at::Tensor& x) { return Shape(x.sizes().begin() + 1, x.sizes().end()); }
#endif

void RequireOneInput(const Layer& layer, const std::vector<Shape>& inputs) {
  if (inputs.size() == 1) return;
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + " needs one input, not " +
                                                std::to_string(inputs.size()));
}

class Flatten : public Layer {
 public:
  explicit Flatten(LayerConfig& config) : Layer(config) { ReadDataFormat(config); }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireOneInput(*this, inputs);
    return {ElementCount(inputs[0])};
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    return WithShape(inputs[0], {ElementCount(ExampleShape(inputs[0]))});
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    node->alias = true;
    return nullptr;
  }
#endif
};

class Reshape : public Layer {
 public:
  explicit Reshape(LayerConfig& config)
      : Layer(config), target_(config.Ints("target_shape", 0, {})) {
    int unknown = 0;
    for (int64_t size : target_) {
      if (size == -1) ++unknown;
      if (size < -1 || unknown > 1) {
        config.Fail(ErrorCode::kInvalidParameter,
                    "argument \"target_shape\" allows one -1 and otherwise sizes of 0 or more");
        target_.clear();
        break;
      }
    }
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireOneInput(*this, inputs);
    const int64_t count = ElementCount(inputs[0]);
    Shape output = target_;
    Shape stated = target_;
    stated.erase(std::remove(stated.begin(), stated.end(), -1), stated.end());
    const int64_t known = ElementCount(stated);
    for (int64_t& size : output) {
      if (size == -1) size = known == 0 ? 0 : count / known;
    }
    if (ElementCount(output) != count) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class Reshape: an input of shape " +
                      ShapeText(inputs[0]) + " cannot take the shape " + ShapeText(target_));
    }
    return output;
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    return WithShape(inputs[0], OutputShape({ExampleShape(inputs[0])}));
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    node->alias = true;
    return nullptr;
  }
#endif

 private:
  Shape target_;
};

}  // namespace

std::unique_ptr<Layer> MakeFlatten(LayerConfig& config) {
  return std::make_unique<Flatten>(config);
}
std::unique_ptr<Layer> MakeReshape(LayerConfig& config) {
  return std::make_unique<Reshape>(config);
}

}  // namespace hopper
