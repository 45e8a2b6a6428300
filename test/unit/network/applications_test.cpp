// Whole models of keras.applications with Keras' weights, in planned steps: prediction, and one
// step of training.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "baseline_table.h"
#include "model/network/step_plan.h"

namespace hopper {
namespace {

const BaselineTable& Table() {
  static const BaselineTable table("keras_applications.safetensors");
  return table;
}

class Application : public testing::TestWithParam<std::string> {
 protected:
  Application()
      : case_(Find()),
        spec_(ParseModel(case_["architecture"].get<std::string>(), nullptr)),
        network_(spec_),
        flat_(spec_->flat_size),
        input_(Table().Get(case_, "input")) {
    std::vector<float> keras(static_cast<size_t>(spec_->parameters));
    float* at = keras.data();
    for (size_t w = 0; w < spec_->weights.size(); ++w) {
      const double scale = Table().Get(case_, "scales").values[w];
      const double shift = Table().Get(case_, "shifts").values[w];
      const int64_t size = spec_->weights[w].size();
      for (int64_t i = 0; i < size; ++i) {  // as generate_keras_applications.py says
        const uint64_t mixed = (static_cast<uint64_t>(i) + 7919 * w) * 2654435761U % (1ULL << 32);
        const double fraction = static_cast<double>(mixed >> 8) / (1 << 24) - 0.5;
        *at++ = static_cast<float>(shift + scale * fraction);
      }
    }
    ImportWeights(*spec_, keras.data(), flat_.data());
    options_.batch = input_.shape[0];
    step_.params = flat_.data();
  }

  static nlohmann::json Find() {
    for (const nlohmann::json& one : Table().cases()) {
      if (one["name"] == GetParam()) return one;
    }
    throw std::runtime_error("no case");
  }

  const nlohmann::json case_;
  std::shared_ptr<const ModelSpec> spec_;
  Network network_;
  AlignedArray<float> flat_;
  const BaselineTensor& input_;
  PlanOptions options_;
  StepArguments step_;
};

TEST_P(Application, PredictsAndTrainsAsKeras) {
  EXPECT_EQ(spec_->parameters, case_["parameters"].get<int64_t>());
  {
    StepPlan plan(network_, options_);
    plan.SetInput(input_.values.data());
    plan.Forward(step_);
    EXPECT_LE(RelativeDifference(plan.output(), Table().Get(case_, "inference").values), 1e-5);
  }
  AlignedArray<float> gradients(spec_->flat_size);
  step_.gradients = gradients.data();
  options_.training = true;
  options_.linear = true;
  StepPlan plan(network_, options_);
  plan.SetInput(input_.values.data());
  plan.Forward(step_);
  // Categorical crossentropy of softmax, and its gradient by the logits.
  const int64_t classes = spec_->output_shape()[0];
  const int64_t batch = options_.batch;
  double loss = 0.0;
  for (int64_t row = 0; row < batch; ++row) {
    const float* logits = plan.output() + row * classes;
    float* gradient = plan.output_gradient() + row * classes;
    const int64_t label = row * 3 % classes;
    double sum = 0.0;
    for (int64_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(logits[i]));
    loss += (std::log(sum) - logits[label]) / static_cast<double>(batch);
    for (int64_t i = 0; i < classes; ++i) {
      gradient[i] = static_cast<float>((std::exp(logits[i]) / sum - (i == label ? 1.0 : 0.0)) /
                                       static_cast<double>(batch));
    }
  }
  const std::vector<float>& lengths = Table().Get(case_, "gradient_lengths").values;
  double longest = 0.0;
  for (const float length : lengths) longest = std::max(longest, static_cast<double>(length));
  // With weights of a formula and so few images some models are steep: what rounds otherwise moves
  // their loss, and their gradients say nothing.
  const bool steep = longest > 2000.0;
  const double expected = Table().Get(case_, "loss").values[0];
  EXPECT_LE(std::abs(loss - expected) / expected, steep ? 2e-3 : 1e-5) << loss << " " << expected;
  if (steep) return;
  plan.Backward(step_);
  size_t next = 0;
  for (const WeightSpec& weight : spec_->weights) {
    if (!weight.trainable) continue;
    double squares = 0.0;
    for (int64_t i = 0; i < weight.size(); ++i) {
      const double g = gradients[static_cast<size_t>(weight.offset + i)];
      squares += g * g;
    }
    ASSERT_LT(next, lengths.size());
    const double length = lengths[next++];
    // Biases before a batch normalization have none but rounding.
    EXPECT_NEAR(std::sqrt(squares), length, 1e-3 * length + 1e-6 * longest) << weight.name;
  }
  EXPECT_EQ(next, lengths.size());
}

INSTANTIATE_TEST_SUITE_P(All, Application,
                         testing::Values("ResNet50", "MobileNetV2", "DenseNet121",
                                         "EfficientNetB0"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hopper
