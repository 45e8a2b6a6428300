// One model of each family of keras.applications, for the smallest images that it takes: what it
// predicts with Keras' weights.
#include "application_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/aligned.h"
#include "baseline_table.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "network/application_weights.h"

namespace hopper {
namespace {

using nlohmann::json;

TEST(SmallApplications, PredictAsKeras) {
  const ApplicationFiles files("keras-3.15.1");
  int n = 0;
  for (const json& model : files.index()) {
    if (!model.contains("output")) continue;
    SCOPED_TRACE(model["file"].get<std::string>());
    ++n;
    const auto spec = ParseModel(files.Read(model["file"]), nullptr);
    const Network network(spec);
    AlignedArray<float> flat(spec->flat_size);
    {
      std::vector<float> weights(static_cast<size_t>(spec->parameters));
      float* at = weights.data();
      ASSERT_EQ(spec->weights.size(), model["scales"].size());
      for (size_t w = 0; w < spec->weights.size(); ++w) {
        const int64_t size = spec->weights[w].size();
        SpreadEvenly(w, size, model["scales"][w], model["shifts"][w], at);
        at += size;
      }
      ImportWeights(*spec, weights.data(), flat.data());
    }
    PlanOptions options;
    options.batch = model["batch"];
    std::vector<float> images(
        static_cast<size_t>(options.batch * ElementCount(spec->input_shape())));
    SpreadEvenly(kImages, static_cast<int64_t>(images.size()), model["image_scale"],
                 model["image_shift"], images.data());
    StepPlan plan(network, options);
    plan.SetInput(images.data());
    StepArguments step;
    step.params = flat.data();
    plan.Forward(step);
    // Keras in float32 is off by the spread from what it gives in float64, which this is.
    const double allowed = std::max(1e-5, 2.0 * model["spread"].get<double>());
    EXPECT_LE(RelativeDifference(plan.output(), model["output"].get<std::vector<float>>()),
              allowed);
  }
  EXPECT_EQ(n, 16);
}

}  // namespace
}  // namespace hopper
