// GlobalAveragePooling2D and GlobalMaxPooling2D over images of height x width x channels.
#include "model/layers/layers.h"
#include "model/layers/window.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/amax.h>
#include <ATen/ops/mean.h>
#endif

namespace hopper {
namespace {

class GlobalPooling2D : public Layer {
 public:
  GlobalPooling2D(LayerConfig& config, bool maximum)
      : Layer(config), maximum_(maximum), keepdims_(config.Bool("keepdims", false)) {
    ReadDataFormat(config);
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireImage(*this, inputs);
    const int64_t channels = inputs[0][2];
    return keepdims_ ? Shape{1, 1, channels} : Shape{channels};
  }

  int64_t Flops(const std::vector<Shape>& inputs, const Shape&) const override {
    return ElementCount(inputs[0]);
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    // Equal maxima share the gradient, as they do in TensorFlow.
    return maximum_ ? at::amax(inputs[0], {1, 2}, keepdims_)
                    : at::mean(inputs[0], {1, 2}, keepdims_);
  }
#endif

 private:
  bool maximum_;
  bool keepdims_;
};

}  // namespace

std::unique_ptr<Layer> MakeGlobalAveragePooling2D(LayerConfig& config) {
  return std::make_unique<GlobalPooling2D>(config, /*maximum=*/false);
}
std::unique_ptr<Layer> MakeGlobalMaxPooling2D(LayerConfig& config) {
  return std::make_unique<GlobalPooling2D>(config, /*maximum=*/true);
}

}  // namespace hopper
