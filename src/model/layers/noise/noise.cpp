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
  if (!(stddev >= 0.0 && stddev <= 1e30)) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"stddev\" must not be negative");
  }
  config.Ignore("seed");  // the configuration's seed decides
}

int64_t GaussianNoise::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return NoiseFloats(output);
}

GaussianDropout::GaussianDropout(LayerConfig& config)
    : SameShape(config), rate(config.Number("rate", 0.0)) {
  if (!config.Has("rate")) config.Missing("rate");
  if (!(rate >= 0.0 && rate < 1.0)) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"rate\" must be at least 0 and below 1");
    rate = 0.0;
  }
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
