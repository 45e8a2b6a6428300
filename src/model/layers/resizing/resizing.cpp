#include "model/layers/resizing/resizing.h"

#include <algorithm>

#include "model/layers/window.h"

namespace hopper {
namespace layers {

Resized::Resized(LayerConfig& config)
    : Layer(config), height(config.Int("height", 1)), width(config.Int("width", 1)) {
  for (const auto& [key, size] :
       {std::make_pair("height", &height), std::make_pair("width", &width)}) {
    config.RequireGivenCount(key, size);
  }
  ReadDataFormat(config);
}

Shape Resized::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  return {height, width, inputs[0][2]};
}

int64_t Resized::Flops(const std::vector<Shape>&, const Shape& output) const {
  return bilinear ? ElementCount({ElementCount(output), 8}) : 0;
}

Resized::Crop Resized::LargestOf(int64_t from_height, int64_t from_width) const {
  // As Keras, which cuts off fractions.
  const auto part = [](int64_t size, int64_t other, int64_t own, int64_t others) {
    const auto ideal =
        static_cast<int64_t>(static_cast<double>(other * own) / static_cast<double>(others));
    return std::max(std::min(size, ideal), int64_t{1});
  };
  Crop crop;
  crop.height = part(from_height, from_width, height, width);
  crop.width = part(from_width, from_height, width, height);
  crop.top = (from_height - crop.height) / 2;
  crop.left = (from_width - crop.width) / 2;
  return crop;
}

Resizing::Resizing(LayerConfig& config)
    : Resized(config), keeps_ratio(config.Bool("crop_to_aspect_ratio", false)) {
  const std::string interpolation = config.String("interpolation", "bilinear");
  bilinear = interpolation == "bilinear";
  if (!bilinear && interpolation != "nearest") {
    config.Fail(ErrorCode::kNotSupported,
                "interpolation \"" + interpolation + "\" is not supported",
                "Use \"nearest\" or \"bilinear\".");
  }
  config.RequireUnset("antialias");
  config.RequireUnset("pad_to_aspect_ratio");
  config.Ignore("fill_mode");  // of what is padded
  config.Ignore("fill_value");
}

Resized::Crop Resizing::CropOf(int64_t from_height, int64_t from_width) const {
  if (keeps_ratio) return LargestOf(from_height, from_width);
  Crop crop;
  crop.height = from_height;
  crop.width = from_width;
  return crop;
}

Resized::Crop CenterCrop::CropOf(int64_t from_height, int64_t from_width) const {
  // A smaller image is enlarged.
  if (from_height < height || from_width < width) return LargestOf(from_height, from_width);
  return {(from_height - height) / 2, (from_width - width) / 2, height, width};
}

}  // namespace layers
}  // namespace hopper
