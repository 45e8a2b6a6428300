// LSTM, GRU and SimpleRNN over series of steps x features, and Bidirectional.
#pragma once

#include "model/activation.h"
#include "model/layer.h"

namespace hopper {
namespace layers {

struct Recurrent : Layer {
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;
  enum class Cell { kSimple, kLstm, kGru };

  Recurrent(LayerConfig& config, Cell cell);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return return_sequences ? Masking::kCarries : Masking::kEnds; }
  bool reads_masks() const override { return true; }
  bool changes_in_training() const override { return drops(dropout) || drops(recurrent_dropout); }

  // Blocks of `units` columns in kernel and recurrent_kernel: i, f, c, o of an LSTM; z, r, h of a
  // GRU.
  int64_t gates() const { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }
  // Whether a share of inputs, or of the state, is set to zero in training. As in Keras, LSTM and
  // GRU take a rate of 1 for none.
  bool drops(double rate) const { return rate > 0.0 && (rate < 1.0 || cell == Cell::kSimple); }
  // Random masks of the inputs: one for all gates, or one for each.
  int64_t input_masks() const {
    if (!drops(dropout)) return 0;
    return cell == Cell::kSimple || together ? 1 : gates();
  }
  int64_t state_masks() const { return drops(recurrent_dropout) ? gates() : 0; }

  Cell cell;
  int64_t units;
  ActivationSpec activation;
  ActivationSpec recurrent_activation;
  bool use_bias;
  bool unit_forget_bias;
  bool reset_after;
  bool return_sequences;
  bool go_backwards;
  bool zero_output_for_mask;
  double dropout;
  double recurrent_dropout;
  bool together;  // Keras' implementation 2
  WeightRules kernel_rules;
  WeightRules recurrent_rules;
  WeightRules bias_rules;
};
std::unique_ptr<Operator> MakeOperator(const Recurrent& layer);
std::unique_ptr<PlannedOp> Plan(const Recurrent& layer, PlanNode* node);
ops::Value Export(const Recurrent& layer, const ExportCall& call);

struct SimpleRNN : Recurrent {
  static constexpr const char* kName = "SimpleRNN";
  static constexpr const char* kWeights = "kernel, recurrent_kernel, bias";
  static constexpr const char* kDescription =
      "recurrent: activation(x * kernel + state * recurrent_kernel + bias)";
  explicit SimpleRNN(LayerConfig& config) : Recurrent(config, Cell::kSimple) {}
};
struct LSTM : Recurrent {
  static constexpr const char* kName = "LSTM";
  static std::vector<std::string> FormerNames() { return {"CuDNNLSTM"}; }
  static constexpr const char* kWeights = "kernel, recurrent_kernel, bias";
  static constexpr const char* kDescription = "long short-term memory over series";
  explicit LSTM(LayerConfig& config) : Recurrent(config, Cell::kLstm) {}
};
struct GRU : Recurrent {
  static constexpr const char* kName = "GRU";
  static std::vector<std::string> FormerNames() { return {"CuDNNGRU"}; }
  static constexpr const char* kWeights = "kernel, recurrent_kernel, bias";
  static constexpr const char* kDescription = "gated recurrent unit over series";
  explicit GRU(LayerConfig& config) : Recurrent(config, Cell::kGru) {}
};

struct Bidirectional : Layer {
  static constexpr const char* kName = "Bidirectional";
  static constexpr const char* kWeights = "those of the forward layer, then of the backward layer";
  static constexpr const char* kDescription = "a recurrent layer over a series in both directions";
  enum class Merge { kConcatenate, kSum, kMultiply, kAverage };

  explicit Bidirectional(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return forward().masking(); }
  bool reads_masks() const override { return true; }
  bool changes_in_training() const override {
    return forward().changes_in_training() || backward().changes_in_training();
  }

  const Recurrent& forward() const { return static_cast<const Recurrent&>(*forward_); }
  const Recurrent& backward() const { return static_cast<const Recurrent&>(*backward_); }

  Merge merge = Merge::kConcatenate;

 private:
  // Recurrent ones; null where the configuration has problems.
  std::unique_ptr<Layer> forward_;
  std::unique_ptr<Layer> backward_;
};
std::unique_ptr<Operator> MakeOperator(const Bidirectional& layer);
std::unique_ptr<PlannedOp> Plan(const Bidirectional& layer, PlanNode* node);
ops::Value Export(const Bidirectional& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
