// EinsumDense: activation(einsum(equation, x, kernel) + bias), such as "abc,cd->abd".
#pragma once

#include <string>

#include "model/activation.h"
#include "model/layers/einsum/equation.h"

namespace hopper {
namespace layers {

struct EinsumDense : Layer {
  static constexpr const char* kName = "EinsumDense";
  static constexpr const char* kWeights = "kernel, bias";
  static constexpr const char* kDescription = "fully connected along axes that an equation names";
  static constexpr const char* kSince = "2.10";

  explicit EinsumDense(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }

  // What it computes for an input of this shape.
  struct Form {
    Shape kernel;
    Shape bias;  // empty: none
    // Products of the kernel's axes that it sums over, and of the others.
    double inputs = 1.0;
    double outputs = 1.0;
  };
  Form Of(const Shape& input) const;
  Equation EquationOf(const Shape& input) const;

  std::string equation;
  std::vector<int64_t>
      output_shape;  // without the batch and without what "..." stands for; -1: open
  std::string bias_axes;
  ActivationSpec activation;
  WeightRules kernel_rules;
  WeightRules bias_rules;
  // Keras 2 takes the kernel for one of a convolution when it counts what goes in and out.
  bool fans_of_axes;

 private:
  static void CountFans(const Form& form, WeightSpec* kernel);

  // Of the equation: before the comma, behind it, and behind "->", without "...".
  std::string input_;
  std::string kernel_;
  std::string output_;
  enum class Dots { kNone, kBefore, kBehind } dots_ = Dots::kNone;
};
std::unique_ptr<Operator> MakeOperator(const EinsumDense& layer);
ops::Value Export(const EinsumDense& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
