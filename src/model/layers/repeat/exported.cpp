#include "model/exported/export_layer.h"
#include "model/layers/repeat/repeat.h"

namespace hopper {
namespace layers {

using ops::Value;

// A new axis of size 1 is repeated: behind the axis for its values, before it for all of it.
Value Export(const Repetition& layer, const ExportCall& call) {
  Value x = call.x();
  const bool of_values = dynamic_cast<const Repeat*>(&layer) != nullptr;
  const Shape times = layer.TimesOf(Shape(x.sizes().begin() + 1, x.sizes().end()));
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 1) continue;
    const auto at = static_cast<std::ptrdiff_t>(i + (of_values ? 2 : 1));
    const Shape sizes = x.sizes();
    Shape apart = sizes;
    apart.insert(apart.begin() + at, 1);
    Shape repeats(apart.size(), 1);
    repeats[static_cast<size_t>(at)] = times[i];
    Shape joined = sizes;
    joined[i + 1] *= times[i];
    x = reshape(expand(reshape(x, apart), repeats), joined);
  }
  return x;
}

}  // namespace layers
}  // namespace hopper
