// Every layer in several settings against real Keras: output in training and in inference,
// gradients of the input and of every weight, moving statistics.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/network/activate.h"
#include "network/keras_cases.h"

namespace hopper {
namespace {

at::Tensor ToTensor(const BaselineTensor& tensor) {
  return at::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape,
                       at::TensorOptions().dtype(at::kFloat))
      .clone();
}

void ExpectClose(const at::Tensor& actual, const BaselineTensor& expected,
                 const std::string& what) {
  if (!actual.defined()) {  // a gradient that nothing asks for
    for (const float value : expected.values) ASSERT_EQ(value, 0.0F) << what;
    return;
  }
  ASSERT_EQ(actual.sizes().vec(), expected.shape) << what;
  const at::Tensor values = actual.contiguous();
  EXPECT_LE(RelativeDifference(values.const_data_ptr<float>(), expected.values), kTolerance)
      << what;
}

class KerasLayerCase : public KerasCase {
 protected:
  KerasLayerCase() : weights_(network_.BindWeights(flat_.data())) {}

  std::vector<at::Tensor> weights_;
};

TEST_P(KerasLayerCase, Inference) {
  const at::NoGradGuard no_grad;
  const at::Tensor x = ToTensor(Expected("input"));
  ExpectClose(network_.Forward(x, weights_, ForwardContext()), Expected("inference"), "inference");
}

TEST_P(KerasLayerCase, Training) {
  at::Tensor x = ToTensor(Expected("input"));
  x.requires_grad_(true);
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (spec_->weights[i].trainable) weights_[i].requires_grad_(true);
  }
  ForwardContext context;
  context.training = true;
  std::vector<at::Tensor> penalties;
  context.penalties = &penalties;
  const at::Tensor y = network_.Forward(x, weights_, context);
  double penalty = 0.0;
  for (const at::Tensor& one : penalties) {
    penalty += one.item<double>() / static_cast<double>(x.size(0));
  }
  EXPECT_NEAR(penalty, Penalty(), kTolerance * (1.0 + Penalty()));
  ExpectClose(y.detach(), Expected("output"), "output");
  y.backward(ToTensor(Expected("upstream")));
  ExpectClose(x.grad(), Expected("input_gradient"), "gradient of the input");
  int next = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (!spec_->weights[i].trainable) continue;
    ASSERT_LT(next, Count("gradients"));
    ExpectClose(weights_[i].grad(), Expected("gradients", next++),
                "gradient of " + spec_->weights[i].name);
  }
  EXPECT_EQ(next, Count("gradients"));

  ExpectWeightsAfter();
}

// The logits that a loss asks for give the output when the final activation is applied to them.
TEST_P(KerasLayerCase, Logits) {
  const at::NoGradGuard no_grad;
  const at::Tensor x = ToTensor(Expected("input"));
  ForwardContext context;
  context.linear = true;
  const at::Tensor logits = network_.Forward(x, weights_, context);
  ActivationSpec last;
  last.kind = spec_->final_activation;
  ASSERT_TRUE(last.kind == Activation::kLinear || last.kind == Activation::kSigmoid ||
              last.kind == Activation::kSoftmax);
  ExpectClose(Activate(logits, last), Expected("inference"), "output");
}

INSTANTIATE_TEST_SUITE_P(All, KerasLayerCase, testing::ValuesIn(Cases()),
                         [](const auto& info) { return CaseName(info.param.json); });

// Each row of the tables of layers and of activations has a case that the tests here and in
// planned_layer_test.cpp compare with Keras.
TEST(KerasLayers, EachHasACase) {
  std::string all;
  for (const Case& the_case : Cases()) all += the_case.json["architecture"].get<std::string>();
  const auto names = [&all](const std::string& key, const std::string& name) {
    return all.find("\"" + key + "\": \"" + name + "\"") != std::string::npos;
  };
  // They read what packing makes of columns: keras_columns.json has them, with the columns.
  const std::set<std::string> of_columns = {"Hashing", "IntegerLookup", "StringLookup",
                                            "TextVectorization"};
  for (const LayerType& layer : LayerTable()) {
    if (of_columns.count(layer.class_name) != 0) continue;
    // Keras 3.15 does not crop without training; noise_test.cpp has what it documents.
    if (std::string(layer.class_name) == "RandomCrop") continue;
    // Of ours, where Keras writes an array: op_constant_... have it.
    if (std::string(layer.class_name) == "Constant") continue;
    EXPECT_TRUE(names("class_name", layer.class_name)) << layer.class_name;
  }
  for (const ActivationType& activation : ActivationTypes()) {
    if (activation.keras_2) continue;  // the table is of Keras 3
    bool found = false;                // by any of its names
    for (const std::string& name : activation.names) {
      found |= names("activation", name) || names("config", "keras_hub>" + name);
    }
    EXPECT_TRUE(found) << activation.names[0];
  }
}

}  // namespace
}  // namespace hopper
