#include "model/layers/embedding/embedding.h"

#include <cmath>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

// Integers that float32 has all of.
constexpr int64_t kMostIds = int64_t{1} << 24;

int64_t ReadDimension(LayerConfig& config, const char* key) {
  int64_t size = config.Int(key, 1);
  config.RequireGivenCount(key, &size);
  return size;
}

// As the user wrote it.
std::string IdText(float id) {
  if (std::isfinite(id) && id == std::floor(id) && std::fabs(id) < 1e15F) {
    return std::to_string(static_cast<int64_t>(id));
  }
  return std::to_string(id);
}

}  // namespace

Embedding::Embedding(LayerConfig& config)
    : Layer(config),
      input_dim(ReadDimension(config, "input_dim")),
      output_dim(ReadDimension(config, "output_dim")),
      mask_zero(config.Bool("mask_zero", false)),
      rules(config.GetRules("embeddings", "uniform")) {
  if (input_dim > kMostIds) {
    config.Fail(ErrorCode::kLimitExceeded,
                "argument \"input_dim\" must be at most " + std::to_string(kMostIds) + ", not " +
                    std::to_string(input_dim),
                "Ids are packed numbers, which are exact up to there.");
  }
  for (const char* key : {"lora_rank", "weights", "quantization_config"}) {
    config.RequireUnset(key);
  }
  config.Ignore("lora_alpha");
  config.Ignore("input_length");  // of Keras 2; the input has it
}

Shape Embedding::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  Shape output = inputs[0];
  output.push_back(output_dim);
  return output;
}

std::vector<WeightSpec> Embedding::Weights(const std::vector<Shape>& /*inputs*/) const {
  std::vector<WeightSpec> weights(1);
  weights[0].name = "embeddings";
  weights[0].shape = {input_dim, output_dim};
  weights[0].Follow(rules);
  return weights;
}

Mask Embedding::MadeMask() const {
  if (!mask_zero) return {};
  return {{MaskStep::Kind::kNotEqual, 0, 0.0}};
}

void Embedding::ThrowNoRow(float id) const {
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + name() + "\" of class Embedding has no row for id " + IdText(id),
              "Its ids are 0 to " + std::to_string(input_dim - 1) + ".",
              "Give input_dim the largest id plus 1, and pack ids without normalizing_const.");
}

}  // namespace layers
}  // namespace hopper
