// Dense in NTK parametrisation, activation(x * kernel / sqrt(inputs) + bias), whose kernel is made
// of standard normal numbers: that of RealMLP (Holzmueller et al., "Better by Default", 2024). Its
// kernel and bias may be made from what the layer is given first:
//   kernel_data_init "std"   each unit's kernel is divided by the deviation of what it gives
//   bias_data_init "he+5"    a bias is minus a random mean of what the unit gives for five rows
// which a layer does in the first step that it trains. A weight that is not trained, `initialized`,
// says whether it has: so it travels with the model, and loaded weights stay as they are.
#pragma once

#include "model/activation.h"
#include "model/layer.h"

namespace hopper {
namespace layers {

struct NTKDense : Layer {
  static constexpr const char* kName = "NTKDense";
  static constexpr const char* kWeights = "kernel, bias, initialized";
  static constexpr const char* kDescription =
      "fully connected: activation(x * kernel / sqrt(inputs) + bias)";
  static constexpr const char* kSince = kOwnLayer;

  explicit NTKDense(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }
  Masking masking() const override { return Masking::kCarries; }
  bool has_moving_statistics() const override { return initializes(); }

  // What the kernel is multiplied with.
  static float Gain(int64_t inputs);
  // The kernel or the bias is made from the first batch.
  bool initializes() const { return std_kernel || he_bias; }
  // Of the weights: `initialized`, where it is there.
  size_t flag() const { return use_bias ? 2 : 1; }

  int64_t units;
  bool use_bias;
  ActivationSpec activation;
  WeightRules kernel_rules;
  WeightRules bias_rules;
  bool std_kernel;
  bool he_bias;
};
std::unique_ptr<Operator> MakeOperator(const NTKDense& layer);
std::unique_ptr<PlannedOp> Plan(const NTKDense& layer, PlanNode* node);
ops::Value Export(const NTKDense& layer, const ExportCall& call);

// The rows that "he+5" takes of a unit, and their shares of the mean: a function of the layer's
// stream, not of the seed, so that all models in lanes have the same. The order of the rows is the
// seed's.
struct RandomMeans {
  static constexpr int64_t kRows = 5;
  std::vector<int64_t> rows;   // [units][kRows], below `rows`
  std::vector<double> shares;  // [units][kRows]: of a point drawn evenly from the simplex
};
RandomMeans DrawMeans(uint32_t stream, int64_t rows, int64_t units);

}  // namespace layers
}  // namespace hopper
