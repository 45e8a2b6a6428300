// Attention with several heads as a planned op: projections are products over all steps of the
// batch, scores those of one example and head after the other. A team shares the examples.
#include <algorithm>
#include <cmath>

#include "base/product.h"
#include "model/layers/attention/head_attention.h"
#include "model/planned/planned_mask.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace layers {
namespace {

using During = PlanNode::During;

constexpr float kLeast = -2.372671e38F;  // TensorFlow's 3.38953e38 * -0.7

// One of the four Dense layers: rows of `length` become rows of `columns`.
struct Projection {
  size_t weight = 0;  // the kernel's among the node's; the bias follows
  int64_t rows = 0;
  int64_t length = 0;
  int64_t columns = 0;
};

class PlannedHeads : public PlannedOp {
 public:
  PlannedHeads(PlanNode* node, const HeadAttention& layer)
      : node_(*node),
        kernels_(*node->kernels),
        layer_(layer),
        has_key_(node->form != nullptr && node->form->data == 3),
        causal_(node->form != nullptr && node->form->causal),
        factor_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(layer.key_dim)))),
        queries_(node->inputs[0]->shape[0]),
        keys_(node->inputs[1]->shape[0]) {
    const int64_t of_queries = Product({node->batch, queries_});
    const int64_t of_keys = Product({node->batch, keys_});
    const size_t each = layer.use_bias ? 2 : 1;
    query_ = {0, of_queries, node->inputs[0]->shape[1], layer.heads * layer.key_dim};
    key_ = {each, of_keys, Key().shape[1], layer.key_value_heads * layer.key_dim};
    value_ = {2 * each, of_keys, node->inputs[1]->shape[1],
              layer.key_value_heads * layer.value_dim};
    out_ = {3 * each, of_queries, layer.heads * layer.value_dim, node->output->shape[1]};
    for (size_t i = 0; i < (has_key_ ? 3 : 2); ++i) masks_.emplace_back(node, i);
    const During while_used = node->backward ? During::kBoth : During::kForward;
    q_ = node->Scratch({query_.rows, query_.columns}, while_used);
    k_ = node->Scratch({key_.rows, key_.columns}, while_used);
    v_ = node->Scratch({value_.rows, value_.columns}, while_used);
    shares_ = node->Scratch({of_queries, layer.heads, keys_}, while_used);
    heads_ = node->Scratch({out_.rows, out_.length}, while_used);
    if (!node->backward) return;
    node->keeps_inputs = true;
    dq_ = node->Scratch({query_.rows, query_.columns}, During::kBackward);
    dk_ = node->Scratch({key_.rows, key_.columns}, During::kBackward);
    dv_ = node->Scratch({value_.rows, value_.columns}, During::kBackward);
    dheads_ = node->Scratch({out_.rows, out_.length}, During::kBackward);
    dshares_ = node->Scratch({node->parts(), queries_, keys_}, During::kBackward);
    int64_t columns = 0;
    for (const Projection* p : {&query_, &key_, &value_, &out_}) {
      columns = std::max(columns, p->columns);
    }
    sums_ = node->Scratch({columns}, During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    for (PlannedMask& mask : masks_) {
      if (!mask.none()) mask.Make();
    }
    Project(query_, node_.inputs[0]->value->data, step, q_->data);
    kernels_.scale(q_->data, factor_, 0.0F, query_.rows * query_.columns, q_->data);
    Project(key_, Key().value->data, step, k_->data);
    Project(value_, node_.inputs[1]->value->data, step, v_->data);
    ForHeads([&](int64_t b, int64_t head, int /*part*/) { ForwardHead(b, head); });
    Project(out_, heads_->data, step, node_.output->value->data);
  }

  void Backward(const StepArguments& step) override {
    const float* dy = node_.output->gradient->data;
    WeightGradients(out_, heads_->data, dy, step);
    InputGradient(out_, dy, step, false, dheads_->data);
    ForHeads([&](int64_t b, int64_t head, int part) { BackwardHead(b, head, part); });
    kernels_.scale(dq_->data, factor_, 0.0F, query_.rows * query_.columns, dq_->data);
    WeightGradients(query_, node_.inputs[0]->value->data, dq_->data, step);
    WeightGradients(key_, Key().value->data, dk_->data, step);
    WeightGradients(value_, node_.inputs[1]->value->data, dv_->data, step);
    // In the order of the inputs: a tensor that comes twice is written by the first.
    ToInput(query_, 0, dq_->data, step, false);
    ToInput(value_, 1, dv_->data, step, false);
    ToInput(key_, has_key_ ? 2 : 1, dk_->data, step, !has_key_);
    for (size_t i = has_key_ ? 3 : 2; i < node_.inputs.size(); ++i) {
      if (!node_.InputNeedsGradient(i) || node_.input_accumulates[i]) continue;
      std::fill_n(node_.inputs[i]->gradient->data, node_.inputs[i]->size, 0.0F);
    }
  }

 private:
  const PlanValue& Key() const { return *node_.inputs[has_key_ ? 2 : 1]; }

  void Project(const Projection& p, const float* x, const StepArguments& step, float* y) const {
    const float* bias =
        layer_.use_bias ? step.params + node_.weights[p.weight + 1].offset : nullptr;
    PlannedProduct(kernels_, node_.team, p.rows, p.columns, p.length, x,
                   step.params + node_.weights[p.weight].offset, bias, false, y);
  }

  void InputGradient(const Projection& p, const float* dy, const StepArguments& step, bool adds,
                     float* dx) const {
    PlannedInputGradient(kernels_, node_.team, p.rows, p.columns, p.length, dy,
                         step.params + node_.weights[p.weight].offset, adds, dx);
  }

  void ToInput(const Projection& p, size_t input, const float* dy, const StepArguments& step,
               bool written) const {
    if (!node_.InputNeedsGradient(input)) return;
    InputGradient(p, dy, step, written || node_.input_accumulates[input] != 0,
                  node_.inputs[input]->gradient->data);
  }

  void WeightGradients(const Projection& p, const float* x, const float* dy,
                       const StepArguments& step) const {
    if (layer_.use_bias && node_.weights[p.weight + 1].trainable) {
      kernels_.column_sums(dy, p.rows, p.columns, sums_->data);
      node_.DeliverGradient(sums_->data, p.columns, p.weight + 1, step);
    }
    if (!node_.weights[p.weight].trainable) return;
    PlannedWeightGradient(kernels_, node_.team, p.rows, p.columns, p.length, x, dy,
                          node_.weight_accumulates[p.weight] != 0,
                          step.gradients + node_.weights[p.weight].offset);
  }

  template <typename Body>
  void ForHeads(const Body& body) const {
    const double work = 2.0 * static_cast<double>(query_.rows) * static_cast<double>(keys_) *
                        static_cast<double>(layer_.heads * (layer_.key_dim + layer_.value_dim));
    RunShares(node_.team, node_.batch, work, [&](int64_t first, int64_t last, int part) {
      for (int64_t b = first; b < last; ++b) {
        for (int64_t head = 0; head < layer_.heads; ++head) body(b, head, part);
      }
    });
  }

  // What head `head` of example b has in the rows of a projection.
  static float* HeadOf(PlanBuffer* rows, const Projection& p, int64_t steps, int64_t b,
                       int64_t first) {
    return rows->data + b * steps * p.columns + first;
  }
  float* QueryOf(PlanBuffer* rows, int64_t b, int64_t head) const {
    return HeadOf(rows, query_, queries_, b, head * layer_.key_dim);
  }
  float* KeyOf(PlanBuffer* rows, int64_t b, int64_t head) const {
    return HeadOf(rows, key_, keys_, b, head / Group() * layer_.key_dim);
  }
  float* ValueOf(PlanBuffer* rows, int64_t b, int64_t head) const {
    return HeadOf(rows, value_, keys_, b, head / Group() * layer_.value_dim);
  }
  float* ResultOf(PlanBuffer* rows, int64_t b, int64_t head) const {
    return rows->data + b * queries_ * out_.length + head * layer_.value_dim;
  }
  float* SharesOf(int64_t b, int64_t head) const {
    return shares_->data + (b * layer_.heads + head) * queries_ * keys_;
  }
  int64_t Group() const { return layer_.heads / layer_.key_value_heads; }

  // Calls body(place in the scores) where key t is not for query s.
  template <typename Body>
  void ForHidden(int64_t b, const Body& body) const {
    bool masked = causal_ || layer_.window > 0;
    for (const PlannedMask& mask : masks_) masked |= !mask.none();
    if (!masked) return;
    for (int64_t s = 0; s < queries_; ++s) {
      const bool asks = masks_[0].none() || masks_[0].Counts(b, s);
      for (int64_t t = 0; t < keys_; ++t) {
        bool seen =
            asks && !(causal_ && t > s) && !(layer_.window > 0 && std::abs(t - s) >= layer_.window);
        for (size_t i = 1; i < masks_.size(); ++i) {
          seen = seen && (masks_[i].none() || masks_[i].Counts(b, t));
        }
        if (!seen) body(s * keys_ + t);
      }
    }
  }

  void ForwardHead(int64_t b, int64_t head) const {
    float* shares = SharesOf(b, head);
    GemmArgs scores;
    scores.rows = queries_;
    scores.columns = keys_;
    scores.length = layer_.key_dim;
    scores.a = QueryOf(q_, b, head);
    scores.a_row = query_.columns;
    scores.b = KeyOf(k_, b, head);
    scores.b_step = key_.columns;
    scores.b_row = 1;
    scores.c = shares;
    scores.c_row = keys_;
    kernels_.gemm(scores);
    // Where nothing counts, everything does: as in Keras.
    ForHidden(b, [&](int64_t i) { shares[i] = kLeast; });
    kernels_.softmax(shares, queries_, keys_, shares);
    GemmArgs sums;
    sums.rows = queries_;
    sums.columns = layer_.value_dim;
    sums.length = keys_;
    sums.a = shares;
    sums.a_row = keys_;
    sums.b = ValueOf(v_, b, head);
    sums.b_row = value_.columns;
    sums.c = ResultOf(heads_, b, head);
    sums.c_row = out_.length;
    kernels_.gemm(sums);
  }

  void BackwardHead(int64_t b, int64_t head, int part) const {
    const float* shares = SharesOf(b, head);
    const float* dresult = ResultOf(dheads_, b, head);
    float* dshares = dshares_->data + part * queries_ * keys_;
    const bool adds = head % Group() != 0;  // heads that share a key and a value
    GemmArgs args;
    args.rows = queries_;
    args.columns = keys_;
    args.length = layer_.value_dim;
    args.a = dresult;
    args.a_row = out_.length;
    args.b = ValueOf(v_, b, head);
    args.b_step = value_.columns;
    args.b_row = 1;
    args.c = dshares;
    args.c_row = keys_;
    kernels_.gemm(args);
    TransposedProduct(shares, layer_.value_dim, dresult, out_.length, adds, ValueOf(dv_, b, head),
                      value_.columns);
    kernels_.softmax_gradient(shares, dshares, queries_, keys_, /*accumulate=*/false, dshares);
    ForHidden(b, [&](int64_t i) { dshares[i] = 0.0F; });
    GemmArgs query;
    query.rows = queries_;
    query.columns = layer_.key_dim;
    query.length = keys_;
    query.a = dshares;
    query.a_row = keys_;
    query.b = KeyOf(k_, b, head);
    query.b_row = key_.columns;
    query.c = QueryOf(dq_, b, head);
    query.c_row = query_.columns;
    kernels_.gemm(query);
    TransposedProduct(dshares, layer_.key_dim, QueryOf(q_, b, head), query_.columns, adds,
                      KeyOf(dk_, b, head), key_.columns);
  }

  // c[keys][columns] (+)= transposed a[queries][keys] * b
  void TransposedProduct(const float* a, int64_t columns, const float* b, int64_t b_row, bool adds,
                         float* c, int64_t c_row) const {
    GemmArgs args;
    args.rows = keys_;
    args.columns = columns;
    args.length = queries_;
    args.a = a;
    args.a_row = 1;
    args.a_step = keys_;
    args.b = b;
    args.b_row = b_row;
    args.c = c;
    args.c_row = c_row;
    args.accumulate = adds;
    kernels_.gemm(args);
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const HeadAttention& layer_;
  const bool has_key_;
  const bool causal_;
  const float factor_;  // of the scores
  const int64_t queries_;
  const int64_t keys_;
  Projection query_, key_, value_, out_;
  std::vector<PlannedMask> masks_;  // of query, value and, if given, key
  PlanBuffer* q_ = nullptr;         // [example][step][head][key_dim], times the factor
  PlanBuffer* k_ = nullptr;         // likewise
  PlanBuffer* v_ = nullptr;
  PlanBuffer* shares_ = nullptr;  // [example][head][query][key]
  PlanBuffer* heads_ = nullptr;   // [example][query][head][value_dim]
  PlanBuffer* dq_ = nullptr;
  PlanBuffer* dk_ = nullptr;
  PlanBuffer* dv_ = nullptr;
  PlanBuffer* dheads_ = nullptr;
  PlanBuffer* dshares_ = nullptr;  // of one head
  PlanBuffer* sums_ = nullptr;     // a bias' gradient
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const HeadAttention& layer, PlanNode* node) {
  // Dropout takes shares away in training, and those that a mask hides also without.
  if (layer.dropout > 0.0) return nullptr;
  return std::make_unique<PlannedHeads>(node, layer);
}

}  // namespace layers
}  // namespace hopper
