// keras.ops.mean(x, axis) and its like: one number of many along axes of each example.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Reduction : Layer {
  static constexpr const char* kSince = kOperationOnly;
  static constexpr const char* kWeights = "";
  enum class Kind { kMean, kSum, kMax, kMin, kVariance, kDeviation, kNorm, kLogSumExp, kProduct };

  // "axis": a number or several, as in Keras with the batch as 0, which is not among them.
  Reduction(LayerConfig& config, Kind how);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  // Of an example's shape: the axes, with the batch as 0, in order. Throws where there are none.
  std::vector<int64_t> AxesOf(const Shape& input) const;

  Kind kind;
  std::vector<int64_t> axes;
  bool keepdims;
};
std::unique_ptr<Operator> MakeOperator(const Reduction& layer);
ops::Value Export(const Reduction& layer, const ExportCall& call);

struct Mean : Reduction {
  static constexpr const char* kName = "Mean";
  static constexpr const char* kDescription = "mean along axes";
  explicit Mean(LayerConfig& config) : Reduction(config, Kind::kMean) {}
};
struct Sum : Reduction {
  static constexpr const char* kName = "Sum";
  static constexpr const char* kDescription = "sum along axes";
  explicit Sum(LayerConfig& config) : Reduction(config, Kind::kSum) {}
};
struct Max : Reduction {
  static constexpr const char* kName = "Max";
  static constexpr const char* kDescription = "largest value along axes";
  explicit Max(LayerConfig& config) : Reduction(config, Kind::kMax) {}
};
struct Min : Reduction {
  static constexpr const char* kName = "Min";
  static constexpr const char* kDescription = "smallest value along axes";
  explicit Min(LayerConfig& config) : Reduction(config, Kind::kMin) {}
};
struct Var : Reduction {
  static constexpr const char* kName = "Var";
  static constexpr const char* kDescription = "variance along axes, of all values";
  explicit Var(LayerConfig& config) : Reduction(config, Kind::kVariance) {}
};
struct Std : Reduction {
  static constexpr const char* kName = "Std";
  static constexpr const char* kDescription = "standard deviation along axes, of all values";
  explicit Std(LayerConfig& config) : Reduction(config, Kind::kDeviation) {}
};
// The square root of the sum of squares.
struct Norm : Reduction {
  static constexpr const char* kName = "Norm";
  static constexpr const char* kDescription = "Euclidean norm along axes";
  explicit Norm(LayerConfig& config) : Reduction(config, Kind::kNorm) {}
};
struct Logsumexp : Reduction {
  static constexpr const char* kName = "Logsumexp";
  static constexpr const char* kDescription = "logarithm of the sum of exponentials along axes";
  explicit Logsumexp(LayerConfig& config) : Reduction(config, Kind::kLogSumExp) {}
};

struct Prod : Reduction {
  static constexpr const char* kName = "Prod";
  static constexpr const char* kDescription = "product along axes";
  explicit Prod(LayerConfig& config) : Reduction(config, Kind::kProduct) {}
};

}  // namespace layers
}  // namespace hopper
