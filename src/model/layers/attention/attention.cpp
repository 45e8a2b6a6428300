#include "model/layers/attention/attention.h"

#include "base/product.h"
#include "model/layers/attention/series.h"

namespace hopper {
namespace layers {

DotAttention::DotAttention(LayerConfig& config, bool is_additive)
    : Layer(config),
      additive(is_additive),
      use_scale(config.Bool("use_scale", is_additive)),
      concatenates(false),
      dropout(ScoreDropout(config)) {
  if (!additive) {
    const std::string mode = config.String("score_mode", "dot");
    concatenates = mode == "concat";
    if (mode != "dot" && mode != "concat") {
      config.Fail(ErrorCode::kNotSupported, "score_mode \"" + mode + "\" is not supported",
                  "Use \"dot\" or \"concat\".");
    }
  }
  config.RequireUnset("causal");  // of Keras 2; now the call says it
  config.Ignore("seed");          // the configuration's seed decides
}

Shape DotAttention::OutputShape(const std::vector<Shape>& inputs) const {
  RequireAttendedSeries(*this, inputs);
  const std::string shown = "layer \"" + name() + "\" of class " + class_name();
  if (inputs[1][0] != inputs.back()[0] || inputs[0][1] != inputs.back()[1]) {
    throw Error(ErrorCode::kInvalidParameter,
                shown + ": query, value and key of shapes " + ShapeText(inputs[0]) + ", " +
                    ShapeText(inputs[1]) + " and " + ShapeText(inputs.back()) +
                    " do not fit together",
                "Query and key have as many features, value and key as many steps.");
  }
  return {inputs[0][0], inputs[1][1]};
}

std::vector<WeightSpec> DotAttention::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights;
  if (use_scale) {
    weights.emplace_back();
    weights.back().name = "scale";
    if (additive) {
      weights.back().shape = {inputs[0][1]};
      weights.back().initializer.kind = InitializerKind::kVarianceScaling;  // Glorot's
      weights.back().initializer.a = 1.0;
    } else {
      weights.back().initializer.kind = InitializerKind::kOnes;
    }
  }
  if (concatenates) {
    weights.emplace_back();
    weights.back().name = "concat_score_weight";
    weights.back().initializer.kind = InitializerKind::kOnes;
  }
  return weights;
}

int64_t DotAttention::Flops(const std::vector<Shape>& inputs, const Shape&) const {
  return Product({2, inputs[0][0], inputs[1][0], inputs[0][1] + inputs[1][1]});
}

int64_t DotAttention::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  const int64_t scores = Product({inputs[0][0], inputs[1][0]});
  return Product({scores, sums() ? 3 * inputs[0][1] + 4 : 4});
}

}  // namespace layers
}  // namespace hopper
