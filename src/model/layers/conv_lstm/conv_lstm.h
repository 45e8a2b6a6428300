// ConvLSTM1D and ConvLSTM2D: an LSTM whose products are convolutions, over steps of series or of
// images.
#pragma once

#include "model/activation.h"
#include "model/layers/conv_2d/conv_window.h"

namespace hopper {
namespace layers {

struct ConvLstm : Layer {
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;
  static constexpr const char* kWeights = "kernel, recurrent_kernel, bias";

  // `axes`: of the series or image of a step. A series is an image of height 1.
  ConvLstm(LayerConfig& config, size_t axes);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return return_sequences ? Masking::kCarries : Masking::kEnds; }
  bool reads_masks() const override { return true; }
  bool changes_in_training() const override { return Drops(dropout) || Drops(recurrent_dropout); }

  // As in Keras a rate of 1 is none.
  static bool Drops(double rate) { return rate > 0.0 && rate < 1.0; }
  // Height, width and channels of a step's image, from the shape of the input.
  Shape ImageOf(const Shape& input) const;
  // Height and width of the state.
  Shape StateOf(const Shape& input) const;

  size_t axes;
  ConvWindow window;     // of what comes in
  ConvWindow recurrent;  // of the state, which keeps its size
  int64_t filters;
  ActivationSpec activation;
  ActivationSpec recurrent_activation;
  bool use_bias;
  bool unit_forget_bias;
  bool return_sequences;
  bool go_backwards;
  bool zero_output_for_mask;
  double dropout;
  double recurrent_dropout;
  WeightRules kernel_rules;
  WeightRules recurrent_rules;
  WeightRules bias_rules;
};
std::unique_ptr<Operator> MakeOperator(const ConvLstm& layer);
ops::Value Export(const ConvLstm& layer, const ExportCall& call);

struct ConvLSTM1D : ConvLstm {
  static constexpr const char* kName = "ConvLSTM1D";
  static constexpr const char* kDescription = "long short-term memory over steps of series";
  static constexpr const char* kSince = "2.6";
  explicit ConvLSTM1D(LayerConfig& config) : ConvLstm(config, /*axes=*/1) {}
};
struct ConvLSTM2D : ConvLstm {
  static constexpr const char* kName = "ConvLSTM2D";
  static constexpr const char* kDescription = "long short-term memory over steps of images";
  explicit ConvLSTM2D(LayerConfig& config) : ConvLstm(config, /*axes=*/2) {}
};

}  // namespace layers
}  // namespace hopper
