#include "model/layers/noise/noise.h"

namespace hopper {
namespace layers {
namespace {

// Two random numbers of each element, and what becomes of them.
int64_t NoiseFloats(const Shape& output) { return ElementCount({6, ElementCount(output)}); }

}  // namespace

GaussianNoise::GaussianNoise(LayerConfig& config)
    : SameShape(config), stddev(config.Number("stddev", 0.0)) {
  if (!config.Has("stddev")) config.Missing("stddev");
  config.Require("stddev", stddev, {0, 1e30, false, false, "must not be negative"});
  config.Ignore("seed");  // the configuration's seed decides
}

int64_t GaussianNoise::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return NoiseFloats(output);
}

GaussianDropout::GaussianDropout(LayerConfig& config)
    : SameShape(config), rate(config.Number("rate", 0.0, kUnitHalfOpen)) {
  if (!config.Has("rate")) config.Missing("rate");
  config.Ignore("seed");  // the configuration's seed decides
}

int64_t GaussianDropout::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return NoiseFloats(output);
}

AlphaDropout::AlphaDropout(LayerConfig& config) : Dropout(config) {
  if (rate < 1.0) return;
  config.Fail(ErrorCode::kInvalidParameter, "argument \"rate\" must be below 1");
  rate = 0.0;
}

int64_t AlphaDropout::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return NoiseFloats(output);
}

}  // namespace layers
}  // namespace hopper
