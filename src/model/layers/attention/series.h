// What all attention over series reads: query, value and, if given, key, of steps x features.
#pragma once

#include <vector>

#include "model/layer.h"

namespace hopper {
namespace layers {

// Throws Error where the inputs are no such series.
void RequireAttendedSeries(const Layer& layer, const std::vector<Shape>& inputs);
// Argument "dropout", of the scores; 0 where it is wrong.
double ScoreDropout(LayerConfig& config);

}  // namespace layers
}  // namespace hopper
