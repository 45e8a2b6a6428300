#include "model/exported/export_layer.h"
#include "model/layers/up_sampling_2d/up_sampling_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const UpSampling2D& layer, const ExportCall& call) {
  const Value x = ChannelsFirst(call.x());
  const auto height = static_cast<double>(layer.size[0]);
  const auto width = static_cast<double>(layer.size[1]);
  return ChannelsLast(call.graph->Emit(
      "Resize", {x},
      {{"scales", std::vector<double>{1.0, 1.0, height, width}},
       {"mode", std::string(layer.bilinear ? "linear" : "nearest")},
       {"coordinate_transformation_mode",
        std::string(layer.bilinear ? "half_pixel" : "asymmetric")},
       {"nearest_mode", std::string("floor")}},
      {x.size(0), x.size(1), x.size(2) * layer.size[0], x.size(3) * layer.size[1]}));
}

}  // namespace layers
}  // namespace hopper
