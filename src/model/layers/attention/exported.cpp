#include <cmath>
#include <cstdlib>

#include "model/exported/export_layer.h"
#include "model/layers/attention/attention.h"
#include "model/layers/attention/head_attention.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

Value And(const Value& a, const Value& b) {
  if (!a.defined()) return b;
  return b.defined() ? logical_and(a, b) : a;
}

// Bool [queries, keys]: which keys a query sees. Not defined where it is all of them.
Value Near(const Value& query, const Value& key, bool causal, int64_t window) {
  if (!causal && window == 0) return {};
  std::vector<float> near;
  for (int64_t q = 0; q < query.size(1); ++q) {
    for (int64_t k = 0; k < key.size(1); ++k) {
      const bool after = causal && k > q;
      const bool far = window > 0 && std::abs(k - q) >= window;
      near.push_back(after || far ? 0.0F : 1.0F);
    }
  }
  return gt(query.graph()->Constant(near, {query.size(1), key.size(1)}), 0.5);
}

// [batch, steps, features] by heads: [batch, heads, steps, width].
Value Heads(const HeadAttention& layer, const Value& x, const Value* weights) {
  const Value& kernel = weights[0];
  const int64_t heads = kernel.size(1);
  const int64_t width = kernel.size(2);
  Value y = matmul(x, reshape(kernel, {x.size(2), heads * width}));
  if (layer.use_bias) y = add(y, reshape(weights[1], {heads * width}));
  return permute(reshape(y, {-1, x.size(1), heads, width}), {0, 2, 1, 3});
}

Value Shared(const HeadAttention& layer, const Value& x) {
  if (layer.key_value_heads == layer.heads) return x;
  const int64_t times = layer.heads / layer.key_value_heads;
  const Value apart = reshape(x, {-1, layer.key_value_heads, 1, x.size(2), x.size(3)});
  return reshape(expand(apart, {1, 1, times, 1, 1}), {-1, layer.heads, x.size(2), x.size(3)});
}

constexpr double kLeast = -2.372671e38;  // TensorFlow's 3.38953e38 * -0.7

}  // namespace

Value Export(const HeadAttention& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Value& value = call.inputs[1];
  const Value& key = call.DataInputs() == 3 ? call.inputs[2] : value;
  const size_t step = layer.use_bias ? 2 : 1;
  const Value* weights = call.weights.data();
  const Value q = mul(Heads(layer, x, weights), 1.0 / std::sqrt(double(layer.key_dim)));
  const Value k = Shared(layer, Heads(layer, key, weights + step));
  const Value v = Shared(layer, Heads(layer, value, weights + 2 * step));
  Value scores = matmul(q, permute(k, {0, 1, 3, 2}));
  Value mask;
  for (size_t input = 0; input < call.DataInputs(); ++input) {
    const Value own = call.MaskOf(input);
    if (!own.defined()) continue;
    const int64_t steps = own.size(1);
    mask = And(mask, reshape(own, input == 0 ? Shape{-1, 1, steps, 1} : Shape{-1, 1, 1, steps}));
  }
  mask = And(mask, Near(x, key, call.causal(), layer.window));
  if (mask.defined()) scores = where(mask, scores, kLeast);
  scores = softmax(scores, -1);
  if (mask.defined() && layer.dropout > 0.0) scores = where(mask, scores, 0.0);
  const int64_t width = layer.heads * layer.value_dim;
  const Value rows = reshape(permute(matmul(scores, v), {0, 2, 1, 3}), {-1, x.size(1), width});
  const Value& kernel = weights[3 * step];
  const Value y = matmul(rows, reshape(kernel, {width, kernel.size(2)}));
  return layer.use_bias ? add(y, weights[3 * step + 1]) : y;
}

Value Export(const DotAttention& layer, const ExportCall& call) {
  const Value& query = call.x();
  const Value& value = call.inputs[1];
  const Value& key = call.DataInputs() == 3 ? call.inputs[2] : value;
  Value scores;
  if (layer.sums()) {
    const Value both = add(reshape(query, {-1, query.size(1), 1, query.size(2)}),
                           reshape(key, {-1, 1, key.size(1), key.size(2)}));
    if (layer.additive) {
      const Value terms = tanh(both);
      scores = sum(layer.use_scale ? mul(call.weights[0], terms) : terms, {-1});
    } else {
      const Value terms = tanh(layer.use_scale ? mul(call.weights[0], both) : both);
      scores = mul(call.weights[layer.use_scale ? 1 : 0], sum(terms, {-1}));
    }
  } else {
    scores = matmul(query, permute(key, {0, 2, 1}));
    if (layer.use_scale) scores = mul(scores, call.weights[0]);
  }
  const Value of_value = call.MaskOf(1);
  Value mask = Near(query, key, call.causal(), 0);
  if (of_value.defined()) mask = And(reshape(of_value, {-1, 1, of_value.size(1)}), mask);
  if (mask.defined()) scores = where(mask, scores, sub(scores, 1e9));
  const Value y = matmul(softmax(scores, -1), value);
  const Value of_query = call.MaskOf(0);
  if (!of_query.defined()) return y;
  return where(reshape(of_query, {-1, of_query.size(1), 1}), y, 0.0);
}

}  // namespace layers
}  // namespace hopper
