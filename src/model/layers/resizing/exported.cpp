#include <algorithm>
#include <cmath>

#include "model/exported/export_layer.h"
#include "model/layers/resizing/resizing.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

// Along an axis the pixel whose middle is nearest to that of each of `size` new ones; by libtorch's
// arithmetic in float32, which is TensorFlow's.
Value Nearest(const Value& x, int64_t axis, int64_t size) {
  const int64_t from = x.size(axis);
  if (from == size) return x;
  const float scale = static_cast<float>(from) / static_cast<float>(size);
  std::vector<float> places;
  for (int64_t i = 0; i < size; ++i) {
    const float place = std::floor((static_cast<float>(i) + 0.5F) * scale);
    places.push_back(std::min(place, static_cast<float>(from - 1)));
  }
  const Value chosen = x.graph()->Constant(places, {size}).to(ops::Type::kInt64);
  Shape shape = x.sizes();
  shape[static_cast<size_t>(axis)] = size;
  return x.graph()->Emit("Gather", {x, chosen}, {{"axis", axis}}, shape);
}

}  // namespace

Value Export(const Resized& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Resized::Crop crop = layer.CropOf(x.size(1), x.size(2));
  const Value part = narrow(narrow(x, 1, crop.top, crop.height), 2, crop.left, crop.width);
  if (crop.height == layer.height && crop.width == layer.width) return part;
  if (!layer.bilinear) return Nearest(Nearest(part, 1, layer.height), 2, layer.width);
  const Value image = ChannelsFirst(part);
  const Shape sizes{image.size(0), image.size(1), layer.height, layer.width};
  // The other size is the product, rounded down.
  const auto times = [](int64_t to, int64_t from) {
    float scale = static_cast<float>(to) / static_cast<float>(from);
    while (static_cast<double>(scale) * static_cast<double>(from) < static_cast<double>(to)) {
      scale = std::nextafter(scale, INFINITY);
    }
    return static_cast<double>(scale);
  };
  return ChannelsLast(
      call.graph->Emit("Resize", {image},
                       {{"scales", std::vector<double>{1.0, 1.0, times(layer.height, crop.height),
                                                       times(layer.width, crop.width)}},
                        {"mode", std::string("linear")},
                        {"coordinate_transformation_mode", std::string("half_pixel")},
                        {"nearest_mode", std::string("floor")}},
                       sizes));
}

}  // namespace layers
}  // namespace hopper
