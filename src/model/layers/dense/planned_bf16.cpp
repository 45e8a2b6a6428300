// A dense layer with products of bfloat16 numbers. A team shares first the rounding and packing of
// the operands, then the rows of the product: no sum is cut.
#include "model/planned/planned_bf16.h"

#include <algorithm>

#include "model/layers/dense/planned.h"

namespace hopper {
namespace {

using During = PlanNode::During;

int64_t DensePairs(int64_t n) { return (n + 1) / 2; }

class PlannedDenseBf16 : public PlannedOp {
 public:
  PlannedDenseBf16(PlanNode* node, const ActivationSpec& activation, bool use_bias)
      : node_(*node),
        kernels_(*node->kernels),
        bf16_(*node->bf16),
        activation_(node, activation),
        use_bias_(use_bias),
        length_(node->inputs[0]->shape.back()),
        columns_(node->output->shape.back()),
        rows_(node->output->size / columns_) {
    node->reads_shadow = true;
    input_ = node->Scratch({rows_, DensePairs(length_)}, During::kForward);
    weights_ = node->Scratch({Bf16PackedSize(columns_, DensePairs(length_))}, During::kForward);
    node->keeps_inputs = node->weights[0].trainable;
    node->keeps_output = activation_.keeps_output();
    if (!node->backward) return;
    if (use_bias && node->weights[1].trainable)
      sums_ = node->Scratch({columns_}, During::kBackward);
    if (node->weights[0].trainable) {
      input_pairs_ = node->Scratch({DensePairs(rows_), length_}, During::kBackward);
      gradient_pairs_ =
          node->Scratch({Bf16PackedSize(columns_, DensePairs(rows_))}, During::kBackward);
    }
    if (node->InputNeedsGradient(0)) {
      gradient_ = node->Scratch({rows_, DensePairs(columns_)}, During::kBackward);
      transposed_ =
          node->Scratch({Bf16PackedSize(length_, DensePairs(columns_))}, During::kBackward);
    }
  }

  void Forward(const StepArguments& step) override {
    const int64_t pairs = DensePairs(length_);
    Round(node_.inputs[0]->value->data, length_, input_);
    SharePairs(length_, [&](int64_t first, int64_t from, int64_t n) {
      PackRoundedRows(bf16_, step.shadow + node_.weights[0].offset + from * columns_, columns_, n,
                      columns_, first, pairs, PairData(weights_));
    });
    float* y = node_.output->value->data;
    Bf16GemmArgs args = Product(rows_, columns_, pairs, Bf16Data(input_), weights_, y);
    if (use_bias_) args.bias = step.params + node_.weights[1].offset;
    args.relu = activation_.relu();
    Multiply(args);
    if (!activation_.none() && !activation_.relu()) activation_.Forward(y, y);
  }

  void Backward(const StepArguments& step) override {
    float* dy = node_.output->gradient->data;
    if (!activation_.none()) activation_.Backward(node_.output->value->data, dy, dy);
    if (sums_ != nullptr) {
      float* to = step.gradients + node_.weights[1].offset;
      kernels_.column_sums(dy, rows_, columns_, node_.weight_accumulates[1] ? sums_->data : to);
      if (node_.weight_accumulates[1]) kernels_.add(sums_->data, columns_, to);
    }
    if (node_.weights[0].trainable) WeightGradient(dy, step);
    if (node_.InputNeedsGradient(0)) InputGradient(dy, step);
  }

 private:
  static Bf16GemmArgs Product(int64_t rows, int64_t columns, int64_t pairs, const uint16_t* a,
                              const PlanBuffer* b, float* c) {
    Bf16GemmArgs args;
    args.rows = rows;
    args.columns = columns;
    args.pairs = pairs;
    args.a = a;
    args.a_row = 2 * pairs;
    args.b = PairData(b);
    args.b_panel = pairs * Bf16Pitch(columns);
    args.c = c;
    args.c_row = columns;
    return args;
  }

  double Work() const {
    return 2.0 * static_cast<double>(rows_) * static_cast<double>(columns_) *
           static_cast<double>(length_);
  }

  void Multiply(const Bf16GemmArgs& all) const {
    RunShares(node_.team, all.rows, Work(), [&](int64_t first, int64_t last, int) {
      Bf16GemmArgs args = all;
      args.rows = last - first;
      args.a += first * all.a_row;
      args.c += first * all.c_row;
      bf16_.gemm(args);
    });
  }

  void Round(const float* x, int64_t length, const PlanBuffer* to) const {
    RunShares(node_.team, rows_, Work(), [&](int64_t first, int64_t last, int) {
      RoundRows(bf16_, x + first * length, last - first, length,
                Bf16Data(to) + first * 2 * DensePairs(length));
    });
  }

  // Calls pack(first pair, first, count) for shares of the pairs among 0 .. n - 1.
  template <typename Pack>
  void SharePairs(int64_t n, const Pack& pack) const {
    RunShares(node_.team, DensePairs(n), Work(), [&](int64_t first, int64_t last, int) {
      pack(first, 2 * first, std::min(2 * last, n) - 2 * first);
    });
  }

  // transposed x * dy: the sum runs over the rows of both.
  void WeightGradient(const float* dy, const StepArguments& step) {
    const int64_t pairs = DensePairs(rows_);
    const float* x = node_.inputs[0]->value->data;
    SharePairs(rows_, [&](int64_t first, int64_t from, int64_t n) {
      bf16_.pair_rows(x + from * length_, length_, n, length_, length_, length_,
                      PairData(input_pairs_) + first * length_);
      PackRows(bf16_, dy + from * columns_, columns_, n, columns_, first, pairs,
               PairData(gradient_pairs_));
    });
    Bf16GemmArgs args = Product(length_, columns_, pairs, Bf16Data(input_pairs_), gradient_pairs_,
                                step.gradients + node_.weights[0].offset);
    args.a_row = 2;
    args.a_pair = 2 * length_;
    args.accumulate = node_.weight_accumulates[0] != 0;
    Multiply(args);
  }

  // dy * transposed weights
  void InputGradient(const float* dy, const StepArguments& step) {
    const int64_t pairs = DensePairs(columns_);
    Round(dy, columns_, gradient_);
    SharePairs(columns_, [&](int64_t first, int64_t from, int64_t n) {
      PackColumns(bf16_, step.shadow + node_.weights[0].offset + from, columns_, n, length_, first,
                  pairs, PairData(transposed_));
    });
    Bf16GemmArgs args = Product(rows_, length_, pairs, Bf16Data(gradient_), transposed_,
                                node_.inputs[0]->gradient->data);
    args.accumulate = node_.input_accumulates[0] != 0;
    Multiply(args);
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const Bf16Kernels& bf16_;
  const PlannedActivation activation_;
  const bool use_bias_;
  const int64_t length_;
  const int64_t columns_;
  const int64_t rows_;
  PlanBuffer* input_ = nullptr;    // rounded
  PlanBuffer* weights_ = nullptr;  // packed
  PlanBuffer* sums_ = nullptr;
  PlanBuffer* input_pairs_ = nullptr;     // pairs of rows
  PlanBuffer* gradient_pairs_ = nullptr;  // of the output, packed
  PlanBuffer* gradient_ = nullptr;        // of the output, rounded
  PlanBuffer* transposed_ = nullptr;      // weights, packed
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedDenseBf16(PlanNode* node, const ActivationSpec& activation,
                                                bool use_bias) {
  return std::make_unique<PlannedDenseBf16>(node, activation, use_bias);
}

}  // namespace hopper
