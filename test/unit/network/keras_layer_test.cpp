// Every layer in several settings against real Keras: output in training and in inference,
// gradients of the input and of every weight, moving statistics.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include "base/aligned.h"
#include "baseline_table.h"
#include "model/network.h"

namespace hopper {
namespace {

constexpr double kTolerance = 1e-5;

const BaselineTable& Table() {
  static const BaselineTable table("keras_layers.safetensors");
  return table;
}

at::Tensor ToTensor(const BaselineTensor& tensor) {
  return at::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape,
                       at::TensorOptions().dtype(at::kFloat))
      .clone();
}

std::vector<float> Concatenated(const nlohmann::json& the_case, const std::string& what) {
  std::vector<float> all;
  for (int i = 0; i < BaselineTable::Count(the_case, what); ++i) {
    const std::vector<float>& one = Table().Get(the_case, what, i).values;
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void ExpectClose(const at::Tensor& actual, const BaselineTensor& expected,
                 const std::string& what) {
  ASSERT_TRUE(actual.defined()) << what;
  ASSERT_EQ(actual.sizes().vec(), expected.shape) << what;
  const at::Tensor values = actual.contiguous();
  EXPECT_LE(RelativeDifference(values.const_data_ptr<float>(), expected.values), kTolerance)
      << what;
}

// A case, printed by its name.
struct Case {
  nlohmann::json json;
};

void PrintTo(const Case& the_case, std::ostream* out) { *out << the_case.json["name"]; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const nlohmann::json& json : Table().cases()) cases.push_back({json});
  return cases;
}

class KerasLayer : public testing::TestWithParam<Case> {
 protected:
  KerasLayer()
      : spec_(ParseModel(GetParam().json["architecture"].get<std::string>(), nullptr)),
        network_(spec_),
        flat_(spec_->flat_size) {
    const std::vector<float> keras = Concatenated(GetParam().json, "weights");
    CheckWeightCount(*spec_, static_cast<int64_t>(keras.size()));
    ImportWeights(*spec_, keras.data(), flat_.data());
    weights_ = network_.BindWeights(flat_.data());
  }

  std::shared_ptr<const ModelSpec> spec_;
  Network network_;
  AlignedArray<float> flat_;
  std::vector<at::Tensor> weights_;
};

TEST_P(KerasLayer, Inference) {
  const at::NoGradGuard no_grad;
  const at::Tensor x = ToTensor(Table().Get(GetParam().json, "input"));
  ExpectClose(network_.Forward(x, weights_, ForwardContext()),
              Table().Get(GetParam().json, "inference"), "inference");
}

TEST_P(KerasLayer, Training) {
  at::Tensor x = ToTensor(Table().Get(GetParam().json, "input"));
  x.requires_grad_(true);
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (spec_->weights[i].trainable) weights_[i].requires_grad_(true);
  }
  ForwardContext context;
  context.training = true;
  const at::Tensor y = network_.Forward(x, weights_, context);
  ExpectClose(y.detach(), Table().Get(GetParam().json, "output"), "output");
  y.backward(ToTensor(Table().Get(GetParam().json, "upstream")));
  ExpectClose(x.grad(), Table().Get(GetParam().json, "input_gradient"), "gradient of the input");
  int next = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (!spec_->weights[i].trainable) continue;
    ASSERT_LT(next, BaselineTable::Count(GetParam().json, "gradients"));
    ExpectClose(weights_[i].grad(), Table().Get(GetParam().json, "gradients", next++),
                "gradient of " + spec_->weights[i].name);
  }
  EXPECT_EQ(next, BaselineTable::Count(GetParam().json, "gradients"));

  std::vector<float> after(spec_->parameters);
  ExportWeights(*spec_, flat_.data(), after.data());
  size_t offset = 0;
  for (int i = 0; i < BaselineTable::Count(GetParam().json, "weights_after"); ++i) {
    const std::vector<float>& expected = Table().Get(GetParam().json, "weights_after", i).values;
    EXPECT_LE(RelativeDifference(after.data() + offset, expected), kTolerance)
        << spec_->weights[i].name << " after the step";
    offset += expected.size();
  }
}

// The logits that a loss asks for give the output when the final activation is applied to them.
TEST_P(KerasLayer, Logits) {
  const at::NoGradGuard no_grad;
  const at::Tensor x = ToTensor(Table().Get(GetParam().json, "input"));
  ForwardContext context;
  context.linear = true;
  const at::Tensor logits = network_.Forward(x, weights_, context);
  ActivationSpec last;
  last.kind = spec_->final_activation;
  ASSERT_TRUE(last.kind == Activation::kLinear || last.kind == Activation::kSigmoid ||
              last.kind == Activation::kSoftmax);
  ExpectClose(Activate(logits, last), Table().Get(GetParam().json, "inference"), "output");
}

INSTANTIATE_TEST_SUITE_P(All, KerasLayer, testing::ValuesIn(Cases()),
                         [](const auto& info) { return CaseName(info.param.json); });

}  // namespace
}  // namespace hopper
