#include "model/layers/attention/head_attention.h"

#include "base/product.h"
#include "model/layers/attention/series.h"

namespace hopper {
namespace layers {

int64_t HeadAttention::ReadCount(LayerConfig& config, const char* key) {
  int64_t count = config.Int(key, 1);
  config.RequireGivenCount(key, &count);
  return count;
}

HeadAttention::HeadAttention(LayerConfig& config)
    : Layer(config),
      dropout(ScoreDropout(config)),
      use_bias(config.Bool("use_bias", true)),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      bias_rules(config.GetRules("bias", "zeros")) {
  if (config.Has("sliding_window")) {
    window = config.Int("sliding_window", 1);
    config.RequireCount("sliding_window", &window);
  }
  config.RequireUnset("use_gate");
  config.Ignore("seed");             // the configuration's seed decides
  config.Ignore("flash_attention");  // how Keras computes it
}

MultiHeadAttention::MultiHeadAttention(LayerConfig& config)
    : HeadAttention(config), takes_masks(config.family() == KerasFamily::kKeras3) {
  heads = key_value_heads = ReadCount(config, "num_heads");
  key_dim = ReadCount(config, "key_dim");
  value_dim = config.Has("value_dim") ? ReadCount(config, "value_dim") : key_dim;
  const std::vector<int64_t> output = config.Ints("output_shape", 0, {});
  if (output.size() > 1) {
    config.Fail(ErrorCode::kNotSupported, "an output_shape of several axes is not supported",
                "Give one size.");
  } else if (output.size() == 1) {
    output_dim = output[0];
    config.RequireCount("output_shape", &output_dim);
  }
  const std::vector<int64_t> axes = config.Ints("attention_axes", 0, {});
  if (axes.size() > 1 || (axes.size() == 1 && axes[0] != 1)) {
    config.Fail(ErrorCode::kNotSupported, "attention_axes other than 1 are not supported",
                "Attend over the first axis after the batch.");
  }
  // Keras 2's own bookkeeping.
  for (const char* key : {"query_shape", "key_shape", "value_shape", "softmax_robust_masking"}) {
    config.Ignore(key);
  }
}

GroupQueryAttention::GroupQueryAttention(LayerConfig& config) : HeadAttention(config) {
  heads = ReadCount(config, "num_query_heads");
  key_value_heads = ReadCount(config, "num_key_value_heads");
  key_dim = value_dim = ReadCount(config, "head_dim");
  if (heads % key_value_heads != 0) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"num_query_heads\" must be a multiple of num_key_value_heads (" +
                    std::to_string(key_value_heads) + "), not " + std::to_string(heads));
    key_value_heads = heads;
  }
}

Shape HeadAttention::OutputShape(const std::vector<Shape>& inputs) const {
  RequireAttendedSeries(*this, inputs);
  const std::string shown = "layer \"" + name() + "\" of class " + class_name();
  if (inputs[1][0] != inputs.back()[0]) {
    throw Error(ErrorCode::kInvalidParameter, shown + ": value has " +
                                                  std::to_string(inputs[1][0]) + " steps and key " +
                                                  std::to_string(inputs.back()[0]));
  }
  return {inputs[0][0], output_dim > 0 ? output_dim : inputs[0][1]};
}

std::vector<WeightSpec> HeadAttention::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights;
  const auto add = [&](const char* name, const Shape& kernel, const Shape& bias) {
    weights.emplace_back();
    weights.back().name = std::string(name) + "/kernel";
    weights.back().shape = kernel;
    weights.back().Follow(kernel_rules);
    weights.back().fan_inputs = kernel.size() - bias.size();
    if (!use_bias) return;
    weights.emplace_back();
    weights.back().name = std::string(name) + "/bias";
    weights.back().shape = bias;
    weights.back().Follow(bias_rules);
  };
  const int64_t output = output_dim > 0 ? output_dim : inputs[0][1];
  add("query", {inputs[0][1], heads, key_dim}, {heads, key_dim});
  add("key", {inputs.back()[1], key_value_heads, key_dim}, {key_value_heads, key_dim});
  add("value", {inputs[1][1], key_value_heads, value_dim}, {key_value_heads, value_dim});
  add("attention_output", {heads, value_dim, output}, {output});
  return weights;
}

int64_t HeadAttention::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const int64_t queries = inputs[0][0];
  const int64_t keys = inputs[1][0];
  int64_t flops = Product({2, queries, inputs[0][1], heads, key_dim});
  flops = SaturatingAdd(flops, Product({2, keys, inputs.back()[1], key_value_heads, key_dim}));
  flops = SaturatingAdd(flops, Product({2, keys, inputs[1][1], key_value_heads, value_dim}));
  flops = SaturatingAdd(flops, Product({2, queries, keys, heads, key_dim + value_dim}));
  return SaturatingAdd(flops, Product({2, queries, heads, value_dim, output.back()}));
}

int64_t HeadAttention::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  const int64_t queries = inputs[0][0];
  const int64_t keys = inputs[1][0];
  int64_t floats = Product({3, queries, heads, key_dim + value_dim});
  floats = SaturatingAdd(floats, Product({3, keys, heads, key_dim + value_dim}));
  return SaturatingAdd(floats, Product({4, heads, queries, keys}));
}

}  // namespace layers
}  // namespace hopper
