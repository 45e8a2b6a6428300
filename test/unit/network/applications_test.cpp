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
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "network/application_weights.h"

namespace hopper {
namespace {

const BaselineTable& Table() {
  static const BaselineTable table("keras_applications.safetensors");
  return table;
}

constexpr uint64_t kPlaces = 1 << 21, kSigns = 1 << 22;

// A model with swish for relu.
void MakeSmooth(nlohmann::json* value) {
  if (!value->is_structured()) return;
  for (nlohmann::json& item : *value) MakeSmooth(&item);
  if (!value->is_object()) return;
  if (value->value("class_name", nlohmann::json()) == "ReLU") {
    (*value)["class_name"] = "Activation";
    (*value)["config"] = {{"name", (*value)["config"]["name"]}, {"activation", "swish"}};
  }
  if (value->value("activation", nlohmann::json()) == "relu") (*value)["activation"] = "swish";
}

class Application : public testing::TestWithParam<std::string> {
 protected:
  Application()
      : case_(Find(GetParam())),
        spec_(ParseModel(Architecture(), nullptr)),
        network_(spec_),
        flat_(spec_->flat_size) {
    std::vector<float> keras(static_cast<size_t>(spec_->parameters));
    float* at = keras.data();
    for (size_t w = 0; w < spec_->weights.size(); ++w) {
      const int64_t size = spec_->weights[w].size();
      SpreadEvenly(w, size, Values("scales")[w], Values("shifts")[w], at);
      at += size;
    }
    ImportWeights(*spec_, keras.data(), flat_.data());
    options_.batch = case_["batch"].get<int64_t>();
    images_.resize(static_cast<size_t>(options_.batch * ElementCount(spec_->input_shape())));
    SpreadEvenly(kImages, static_cast<int64_t>(images_.size()), case_["image_scale"].get<double>(),
                 case_["image_shift"].get<double>(), images_.data());
    step_.params = flat_.data();
  }

  static nlohmann::json Find(const std::string& name) {
    for (const nlohmann::json& one : Table().cases()) {
      if (one["name"] == name) return one;
    }
    throw std::runtime_error("no case");
  }
  std::string Architecture() const {
    nlohmann::json architecture = Find(case_["of"])["architecture"];
    if (case_["of"] != case_["name"]) MakeSmooth(&architecture);
    return architecture.dump();
  }

  const std::vector<float>& Values(const char* what) const {
    return Table().Get(case_, what).values;
  }

  const nlohmann::json case_;
  std::shared_ptr<const ModelSpec> spec_;
  Network network_;
  AlignedArray<float> flat_;
  std::vector<float> images_;
  PlanOptions options_;
  StepArguments step_;
};

TEST_P(Application, PredictsAsKeras) {
  EXPECT_EQ(spec_->parameters, case_["parameters"].get<int64_t>());
  StepPlan plan(network_, options_);
  plan.SetInput(images_.data());
  plan.Forward(step_);
  EXPECT_LE(RelativeDifference(plan.output(), Values("inference")), 1e-5);
}

// Categorical crossentropy of a plan's logits, and its gradient by them, which the plan gets.
double Crossentropy(int64_t batch, int64_t classes, StepPlan* plan) {
  double loss = 0.0;
  for (int64_t row = 0; row < batch; ++row) {
    const float* logits = plan->output() + row * classes;
    float* gradient = plan->output_gradient() + row * classes;
    const int64_t label = row * 3 % classes;
    double sum = 0.0;
    for (int64_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(logits[i]));
    loss += (std::log(sum) - logits[label]) / static_cast<double>(batch);
    for (int64_t i = 0; i < classes; ++i) {
      gradient[i] = static_cast<float>((std::exp(logits[i]) / sum - (i == label ? 1.0 : 0.0)) /
                                       static_cast<double>(batch));
    }
  }
  return loss;
}

// The reference is Keras in float64, and the measure how far Keras in float32 is off it: for each
// weight of a smooth model, and for one with relu, which rounding puts on and off, over all of
// them.
TEST_P(Application, TrainsAsKeras) {
  AlignedArray<float> gradients(spec_->flat_size);
  step_.gradients = gradients.data();
  options_.training = true;
  options_.linear = true;
  StepPlan plan(network_, options_);
  plan.SetInput(images_.data());
  plan.Forward(step_);
  const double loss = Crossentropy(options_.batch, spec_->output_shape()[0], &plan);
  EXPECT_NEAR(loss, case_["loss"].get<double>(), 1e-5 * case_["loss"].get<double>());
  plan.Backward(step_);
  std::vector<float> of_weights(static_cast<size_t>(spec_->parameters));  // as Keras lays them
  ExportWeights(*spec_, gradients.data(), of_weights.data());
  const float* slope = of_weights.data();
  const std::vector<float>& slopes = Values("slopes");
  const std::vector<float>& largest = Values("largest");
  const size_t samples = slopes.size() / largest.size();
  const std::vector<float>& spreads = Values("spread");
  const double spread = *std::max_element(spreads.begin(), spreads.end());
  const bool relu = spread > 1e-3;
  EXPECT_EQ(relu, GetParam().find("Smooth") == std::string::npos && GetParam() != "EfficientNetB0");
  const double steepest = *std::max_element(largest.begin(), largest.end());
  double worst = 0.0;  // of the allowed
  size_t next = 0;
  for (size_t w = 0; w < spec_->weights.size(); slope += spec_->weights[w++].size()) {
    const WeightSpec& weight = spec_->weights[w];
    if (!weight.trainable) continue;
    ASSERT_LT(next, largest.size());
    const int64_t size = weight.size();
    // Biases before a batch normalization have no slope but rounding.
    const bool none = largest[next] < 1e-9 * steepest;
    const double allowed =
        none ? 1e-6 * steepest : 2.0 * (relu ? spread : spreads[next]) * largest[next];
    for (size_t j = 0; j < samples; ++j) {
      const auto place = static_cast<int64_t>(Hashed(kPlaces + w, static_cast<int64_t>(j))) % size;
      const double off = slope[place] - slopes[next * samples + j];
      EXPECT_LE(std::abs(off), allowed) << weight.name << " " << place;
      worst = std::max(worst, std::abs(off) / allowed);
    }
    double sum = 0.0;
    for (int64_t i = 0; i < size; ++i) {
      sum += Hashed(kSigns + w, i) >> 23 == 0 ? slope[i] : -slope[i];
    }
    const double off = sum / std::sqrt(static_cast<double>(size)) - Values("sums")[next];
    EXPECT_LE(std::abs(off), allowed) << weight.name;
    worst = std::max(worst, std::abs(off) / allowed);
    ++next;
  }
  EXPECT_EQ(next, largest.size());
  RecordProperty("loss_off", std::to_string(std::abs(loss / case_["loss"].get<double>() - 1.0)));
  RecordProperty("worst_slope", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, Application,
                         testing::Values("ResNet50", "ResNet50Smooth", "MobileNetV2",
                                         "MobileNetV2Smooth", "DenseNet121", "DenseNet121Smooth",
                                         "EfficientNetB0"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hopper
