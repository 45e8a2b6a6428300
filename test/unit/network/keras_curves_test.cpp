// Whole models over series and ids: 20 steps of SGD against fit() of real Keras.
#include <gtest/gtest.h>

#include <cstring>

#include "base/aligned.h"
#include "baseline_table.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "model/weights/storage.h"

namespace hopper {
namespace {

const BaselineTable& CurveTable() {
  static const BaselineTable table("keras_curves.safetensors");
  return table;
}

class KerasCurve : public testing::TestWithParam<nlohmann::json> {};

TEST_P(KerasCurve, TwentySteps) {
  const nlohmann::json& the_case = GetParam();
  const Network network(ParseModel(the_case["architecture"].get<std::string>(), nullptr));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> flat(spec.flat_size);
  AlignedArray<float> gradients(spec.flat_size);
  std::vector<float> keras;
  for (int i = 0; i < BaselineTable::Count(the_case, "weights"); ++i) {
    const std::vector<float>& one = CurveTable().Get(the_case, "weights", i).values;
    keras.insert(keras.end(), one.begin(), one.end());
  }
  CheckWeightCount(spec, static_cast<int64_t>(keras.size()));
  ImportWeights(spec, keras.data(), flat.data());

  PlanOptions options;
  options.batch = the_case["batch"];
  options.training = true;
  StepPlan plan(network, options);
  StepArguments step;
  step.params = flat.data();
  step.gradients = gradients.data();
  const float rate = the_case["learning_rate"];
  const std::vector<float>& x = CurveTable().Get(the_case, "x").values;
  const std::vector<float>& y = CurveTable().Get(the_case, "y").values;
  const std::vector<float>& losses = CurveTable().Get(the_case, "losses").values;
  const size_t batches = y.size() / static_cast<size_t>(options.batch);
  const size_t width = x.size() / batches;
  for (size_t i = 0; i < losses.size(); ++i) {
    plan.SetInput(x.data() + i % batches * width);
    step.step = static_cast<int64_t>(i);
    plan.Forward(step);
    const float* target = y.data() + i % batches * static_cast<size_t>(options.batch);
    double loss = 0.0;
    for (int64_t j = 0; j < options.batch; ++j) {
      const float error = plan.output()[j] - target[j];
      loss += static_cast<double>(error) * error / static_cast<double>(options.batch);
      plan.output_gradient()[j] = 2.0F * error / static_cast<float>(options.batch);
    }
    EXPECT_NEAR(loss, losses[i], 2e-5 * (1.0 + losses[i])) << "step " << i;
    plan.Backward(step);
    for (const WeightSpec& weight : spec.weights) {
      for (int64_t j = weight.offset; j < weight.offset + weight.size(); ++j) {
        flat[j] -= rate * gradients[j];
      }
    }
  }
  std::vector<float> after(spec.parameters);
  ExportWeights(spec, flat.data(), after.data());
  size_t offset = 0;
  for (int i = 0; i < BaselineTable::Count(the_case, "weights_after"); ++i) {
    const std::vector<float>& expected = CurveTable().Get(the_case, "weights_after", i).values;
    EXPECT_LE(RelativeDifference(after.data() + offset, expected), 1e-4) << spec.weights[i].name;
    offset += expected.size();
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasCurve,
                         testing::ValuesIn(CurveTable().cases().begin(),
                                           CurveTable().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace hopper
