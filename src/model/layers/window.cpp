#include "model/layers/window.h"

namespace hopper {

bool ReadPadding(LayerConfig& config, bool* causal) {
  const std::string padding = config.String("padding", "valid");
  if (causal != nullptr) *causal = padding == "causal";
  if (padding != "valid" && padding != "same" && (causal == nullptr || !*causal)) {
    config.Fail(ErrorCode::kNotSupported, "padding \"" + padding + "\" is not supported",
                causal == nullptr ? "Use \"valid\" or \"same\"."
                                  : "Use \"valid\", \"same\" or \"causal\".");
  }
  return padding == "same";
}

void ReadDataFormat(LayerConfig& config) {
  const std::string format = config.String("data_format", "channels_last");
  if (format != "channels_last") {
    config.Fail(ErrorCode::kNotSupported, "data_format \"" + format + "\" is not supported",
                "Build the model with data_format channels_last.");
  }
}

std::vector<int64_t> ReadSizes(LayerConfig& config, const std::string& key, size_t count,
                               const std::vector<int64_t>& fallback) {
  std::vector<int64_t> sizes = config.Ints(key, count, fallback);
  for (int64_t size : sizes) {
    if (size >= 1) continue;
    config.RequireCount(key, &size);
    return std::vector<int64_t>(count, 1);
  }
  return sizes;
}

std::vector<int64_t> ReadImageSizes(LayerConfig& config, const std::string& key, size_t axes,
                                    const std::vector<int64_t>& fallback) {
  if (axes == 2) return ReadSizes(config, key, 2, fallback);
  return {1, ReadSizes(config, key, 1, {fallback[1]})[0]};
}

void RequireSeries(const Layer& layer, const std::vector<Shape>& inputs) {
  if (inputs.size() == 1 && inputs[0].size() == 2) return;
  const std::string found = inputs.size() == 1 ? "one of shape " + ShapeText(inputs[0])
                                               : std::to_string(inputs.size()) + " inputs";
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + layer.name() + "\" of class " + layer.class_name() +
                  " needs one input of steps x features, not " + found,
              "",
              "Give a series of one value a step a last axis of size 1, for example with a "
              "Reshape layer.");
}

void RequireImage(const Layer& layer, const std::vector<Shape>& inputs) {
  if (inputs.size() == 1 && inputs[0].size() == 3) return;
  const std::string found = inputs.size() == 1 ? "one of shape " + ShapeText(inputs[0])
                                               : std::to_string(inputs.size()) + " inputs";
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + layer.name() + "\" of class " + layer.class_name() +
                  " needs one input of height x width x channels, not " + found,
              "", "Give grey images a last axis of size 1, for example with a Reshape layer.");
}

void RequireFits(const Layer& layer, const Shape& image, const std::vector<int64_t>& window,
                 const WindowAxis& height, const WindowAxis& width) {
  if (height.output > 0 && width.output > 0) return;
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + layer.name() + "\" of class " + layer.class_name() + ": a window of " +
                  ShapeText(window) + " does not fit into an input of shape " + ShapeText(image),
              "", "Use padding \"same\", or fewer layers that shrink the image.");
}

}  // namespace hopper
