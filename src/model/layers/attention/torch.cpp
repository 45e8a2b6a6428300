#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "model/layers/attention/attention.h"
#include "model/layers/attention/head_attention.h"
#include "model/network/mask.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

at::Tensor And(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? at::logical_and(a, b) : a;
}

// Bool [queries, keys]: `far` false where key - query is out of bounds.
at::Tensor Near(const at::Tensor& query, const at::Tensor& key, bool causal, int64_t window) {
  if (!causal && window == 0) return {};
  const auto options = query.options().dtype(at::kLong);
  const at::Tensor ahead = at::arange(key.size(1), options).unsqueeze(0) -
                           at::arange(query.size(1), options).unsqueeze(1);
  at::Tensor near;
  if (causal) near = ahead.le(0);
  if (window > 0) near = And(near, ahead.abs().lt(window));
  return near;
}

bool IsCausal(const ForwardContext& context) {
  return context.form != nullptr && context.form->causal;
}

class HeadTensors : public Operator {
 public:
  explicit HeadTensors(const HeadAttention& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const bool has_key = context.DataInputs(inputs.size()) == 3;
    const at::Tensor& x = inputs[0];
    const at::Tensor& value = inputs[1];
    const at::Tensor& key = has_key ? inputs[2] : value;
    const size_t step = layer_.use_bias ? 2 : 1;
    // [batch, heads, steps, width]
    const at::Tensor q = Heads(x, weights.data()) * (1.0 / std::sqrt(double(layer_.key_dim)));
    const at::Tensor k = Shared(Heads(key, weights.data() + step));
    const at::Tensor v = Shared(Heads(value, weights.data() + 2 * step));
    at::Tensor scores = at::matmul(q, k.transpose(-2, -1));
    const at::Tensor mask = MaskOfScores(inputs, context, key);
    if (mask.defined()) {
      // Where nothing counts, everything does, but for dropout's way: as in Keras.
      scores = at::where(mask, scores, at::full_like(scores, kLeast));
    }
    scores = at::softmax(scores, -1);
    if (layer_.dropout > 0.0) {
      if (mask.defined()) scores = at::where(mask, scores, at::zeros_like(scores));
      if (context.training) {
        scores = scores *
                 RandomMask(context, scores.sizes(), layer_.dropout, x).to(scores.scalar_type());
      }
    }
    const at::Tensor rows = at::matmul(scores, v).transpose(1, 2).reshape(
        {x.size(0) * x.size(1), layer_.heads * layer_.value_dim});
    const at::Tensor kernel = weights[3 * step].flatten(0, 1);
    const at::Tensor y =
        layer_.use_bias ? at::addmm(weights[3 * step + 1], rows, kernel) : at::mm(rows, kernel);
    return y.view({x.size(0), x.size(1), y.size(1)});
  }

 private:
  static constexpr double kLeast = -2.372671e38;  // TensorFlow's 3.38953e38 * -0.7

  at::Tensor Heads(const at::Tensor& x, const at::Tensor* weights) const {
    const at::Tensor& kernel = weights[0];
    const at::Tensor rows = x.reshape({x.size(0) * x.size(1), x.size(2)});
    const at::Tensor flat = kernel.flatten(1, 2);
    const at::Tensor y =
        layer_.use_bias ? at::addmm(weights[1].flatten(0, 1), rows, flat) : at::mm(rows, flat);
    return y.view({x.size(0), x.size(1), kernel.size(1), kernel.size(2)}).transpose(1, 2);
  }

  at::Tensor Shared(const at::Tensor& x) const {
    if (layer_.key_value_heads == layer_.heads) return x;
    return at::repeat_interleave(x, layer_.heads / layer_.key_value_heads, 1);
  }

  // Bool, to be broadcast to [batch, heads, queries, keys].
  at::Tensor MaskOfScores(const std::vector<at::Tensor>& inputs, const ForwardContext& context,
                          const at::Tensor& key) const {
    at::Tensor mask;
    const at::Tensor of_query = MaskOf(context, inputs, 0);
    if (of_query.defined()) mask = of_query.unsqueeze(1).unsqueeze(-1);
    for (size_t input = 1; input < context.DataInputs(inputs.size()); ++input) {
      const at::Tensor own = MaskOf(context, inputs, input);
      if (own.defined()) mask = And(mask, own.unsqueeze(1).unsqueeze(1));
    }
    return And(mask, Near(inputs[0], key, IsCausal(context), layer_.window));
  }

  const HeadAttention& layer_;
};

class DotTensors : public Operator {
 public:
  explicit DotTensors(const DotAttention& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const at::Tensor& query = inputs[0];
    const at::Tensor& value = inputs[1];
    const at::Tensor& key = context.DataInputs(inputs.size()) == 3 ? inputs[2] : value;
    at::Tensor scores = Scores(query, key, weights);
    at::Tensor mask = Near(query, key, IsCausal(context), 0);
    const at::Tensor of_value = MaskOf(context, inputs, 1);
    if (of_value.defined()) mask = And(of_value.unsqueeze(1), mask);
    if (mask.defined()) scores = at::where(mask, scores, scores - 1e9);
    scores = at::softmax(scores, -1);
    if (context.training && layer_.dropout > 0.0) {
      scores = scores *
               RandomMask(context, scores.sizes(), layer_.dropout, query).to(scores.scalar_type());
    }
    const at::Tensor y = at::matmul(scores, value);
    const at::Tensor of_query = MaskOf(context, inputs, 0);
    if (!of_query.defined()) return y;
    return at::where(of_query.unsqueeze(-1), y, at::zeros_like(y));
  }

 private:
  at::Tensor Scores(const at::Tensor& query, const at::Tensor& key,
                    const std::vector<at::Tensor>& weights) const {
    if (!layer_.sums()) {
      const at::Tensor scores = at::matmul(query, key.transpose(-2, -1));
      return layer_.use_scale ? scores * weights[0] : scores;
    }
    const at::Tensor both = query.unsqueeze(2) + key.unsqueeze(1);
    if (layer_.additive) {
      const at::Tensor terms = at::tanh(both);
      return at::sum(layer_.use_scale ? weights[0] * terms : terms, {-1});
    }
    const at::Tensor terms = at::tanh(layer_.use_scale ? weights[0] * both : both);
    return weights[layer_.use_scale ? 1 : 0] * at::sum(terms, {-1});
  }

  const DotAttention& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const HeadAttention& layer) {
  return std::make_unique<HeadTensors>(layer);
}
std::unique_ptr<Operator> MakeOperator(const DotAttention& layer) {
  return std::make_unique<DotTensors>(layer);
}

}  // namespace layers
}  // namespace hopper
