// Dense of an ensemble whose members share a kernel (Wen et al., "BatchEnsemble", 2020): member m's
// is the kernel with its inputs scaled by alpha[m] and its outputs by gamma[m],
//   activation((x * alpha[m]) * kernel * gamma[m] + bias[m]).
// TabM's form of it (Gorishniy et al., "TabM", 2025): members are the axis before the last one,
// [members, inputs] -> [members, units]; a row without that axis, [inputs], is the same for all.
// Either scaling may be left out, and the bias may be one for all members.
#pragma once

#include "model/activation.h"
#include "model/layer.h"

namespace hopper {
namespace layers {

struct DenseBatchEnsemble : Layer {
  static constexpr const char* kName = "DenseBatchEnsemble";
  static constexpr const char* kWeights = "kernel, alpha, gamma, bias";
  static constexpr const char* kDescription =
      "fully connected members that share a kernel, with scales of their own";
  static constexpr const char* kSince = kOwnLayer;

  explicit DenseBatchEnsemble(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }

  // Among the weights; of those that are there.
  size_t alpha() const { return 1; }
  size_t gamma() const { return use_alpha ? 2 : 1; }
  size_t bias() const { return gamma() + (use_gamma ? 1 : 0); }

  int64_t units;
  int64_t members;
  ActivationSpec activation;
  bool use_alpha;
  bool use_gamma;
  bool use_bias;
  bool ensemble_bias;  // each member has a bias of its own
  WeightRules kernel_rules;
  WeightRules alpha_rules;
  WeightRules gamma_rules;
  WeightRules bias_rules;
};
std::unique_ptr<Operator> MakeOperator(const DenseBatchEnsemble& layer);
std::unique_ptr<PlannedOp> Plan(const DenseBatchEnsemble& layer, PlanNode* node);
ops::Value Export(const DenseBatchEnsemble& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
