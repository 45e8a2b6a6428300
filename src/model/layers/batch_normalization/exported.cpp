#include "model/exported/export_layer.h"
#include "model/layers/batch_normalization/batch_normalization.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const BatchNormalization& layer, const ExportCall& call) {
  const int64_t channels = call.x().size(-1);
  const auto filled = [&](float value) {
    return call.graph->Constant(std::vector<float>(static_cast<size_t>(channels), value),
                                {channels});
  };
  size_t next = 0;
  const Value gamma = layer.scale ? call.weights[next++] : filled(1.0F);
  const Value beta = layer.center ? call.weights[next++] : filled(0.0F);
  Shape to, back;
  for (int64_t i = 0; i < call.x().dim(); ++i) {
    const int64_t last = call.x().dim() - 1;
    to.push_back(i == 0 ? 0 : i == 1 ? last : i - 1);
    back.push_back(i == 0 ? 0 : i == last ? 1 : i + 1);
  }
  const Value x = permute(call.x(), to);
  return permute(call.graph->Emit("BatchNormalization",
                                  {x, gamma, beta, call.weights[next], call.weights[next + 1]},
                                  {{"epsilon", layer.epsilon}}, x.sizes()),
                 back);
}

}  // namespace layers
}  // namespace hopper
