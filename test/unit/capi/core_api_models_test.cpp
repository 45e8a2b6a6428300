// What libhopper_core.so says of models, beside what real Keras says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capi/core_library.h"
#include "support/cpu_clock.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

// Counts and shapes as real Keras reported them when it wrote the architectures.
TEST(CoreApi, InspectModelAgreesWithKeras) {
  int inspected = 0;
  for (const Json& model : KerasModels()) {
    const std::string json = model.at("architecture").dump();
    const Json& says = model.at("says");
    if (says.at("inputs").size() != 1 || says.at("outputs").size() != 1) continue;
    hopper_model_info info;
    std::memset(&info, 0xAB, sizeof(info));
    hopper_error error = {};
    if (Api().inspect_model(json.data(), json.size(), &info, &error) != HOPPER_OK) {
      // Keras knows the shape of a model that it has built; its JSON does not say it.
      EXPECT_NE(std::string(error.message).find("input shape"), std::string::npos)
          << model.at("name") << ": " << Show(error);
      continue;
    }
    ++inspected;
    EXPECT_EQ(info.n_parameters, says.at("parameters").get<int64_t>()) << model.at("name");
    const auto input = says.at("inputs")[0].get<std::vector<int64_t>>();
    const auto output = says.at("outputs")[0].get<std::vector<int64_t>>();
    hopper_rows* ends = nullptr;
    ASSERT_EQ(Api().model_ends(json.data(), json.size(), &ends, &error), HOPPER_OK);
    ASSERT_EQ(ends->n_columns, 7);
    EXPECT_EQ(std::string(ends->cells[0]), "input");
    EXPECT_EQ(std::string(ends->cells[7 * (ends->n_rows - 1)]), "output");
    if (ends->n_rows == 2) {
      const auto shape_text = [](const std::vector<int64_t>& shape) {
        std::string text;
        for (const int64_t extent : shape)
          text += (text.empty() ? "" : "x") + std::to_string(extent);
        return text;
      };
      EXPECT_EQ(std::string(ends->cells[2]), shape_text(input)) << model.at("name");
      EXPECT_EQ(std::string(ends->cells[7 + 2]), shape_text(output)) << model.at("name");
    }
    Api().rows_free(ends);
    EXPECT_GT(info.flops, 0);
    EXPECT_EQ(Api().check_weights(json.data(), json.size(), nullptr, info.n_parameters, &error),
              HOPPER_OK);
    EXPECT_EQ(Api().check_weights(json.data(), json.size(), nullptr, info.n_parameters + 1, &error),
              HOPPER_INVALID_PARAMETER);
    EXPECT_NE(std::string(error.message).find("parameters"), std::string::npos) << error.message;
  }
  EXPECT_GE(inspected, 10);
}

TEST(CoreApi, WeightsThatAreNotFinite) {
  const std::string json = Architecture("mlp");
  hopper_model_info info;
  hopper_error error = {};
  ASSERT_EQ(Api().inspect_model(json.data(), json.size(), &info, &error), HOPPER_OK);
  std::vector<float> weights(static_cast<size_t>(info.n_parameters), 0.5F);
  const auto check = [&](const std::string& model) {
    return Api().check_weights(model.data(), model.size(), weights.data(), info.n_parameters,
                               &error);
  };
  EXPECT_EQ(check(json), HOPPER_OK) << Show(error);
  for (const float value : {NAN, INFINITY, -INFINITY}) {
    weights.back() = value;
    EXPECT_EQ(check(json), HOPPER_INVALID_PARAMETER);
    EXPECT_EQ(std::string(error.message),
              "weight \"dense_1/bias\" holds values that are not finite");
  }
  // Where the shapes are not known, the weight has no name.
  const std::string open = KerasSequential({KerasDense("only", 1, "linear")});
  EXPECT_EQ(check(open), HOPPER_INVALID_PARAMETER);
  EXPECT_EQ(std::string(error.message), "weights hold values that are not finite");
}

// Ten times the layers take ten times the time, and too many are refused at once.
TEST(CoreApi, ManyLayers) {
  const auto model = [](int n) {
    std::vector<std::string> layers{
        KerasLayer("Activation", "a0", R"("batch_input_shape": [null, 1], "activation": "relu")")};
    for (int i = 1; i < n; ++i) {
      layers.push_back(
          KerasLayer("Activation", "a" + std::to_string(i), R"("activation": "relu")"));
    }
    return KerasSequential(layers);
  };
  const auto seconds = [](const std::function<void()>& work) {
    const double start = CpuSeconds();
    work();
    return CpuSeconds() - start;
  };
  hopper_error error = {};
  const auto describe = [&](const std::string& json) {
    hopper_rows* rows = nullptr;
    ASSERT_EQ(Api().describe_model(json.data(), json.size(), nullptr, &rows, &error), HOPPER_OK)
        << Show(error);
    Api().rows_free(rows);
  };
  const std::string few = model(500), many = model(10000);
  const double once = seconds([&] { describe(few); });
  EXPECT_LT(seconds([&] { describe(many); }), 20 * 8 * once + 1);  // quadratic: 400 times
  const std::string too_many = model(10001);
  hopper_model_info info;
  const double refusal = seconds([&] {
    EXPECT_EQ(Api().inspect_model(too_many.data(), too_many.size(), &info, &error),
              HOPPER_LIMIT_EXCEEDED);
  });
  EXPECT_EQ(std::string(error.message), "model has too many layers");
  EXPECT_LT(refusal, 20 * 8 * once + 1);
}

TEST(CoreApi, DescribeModelSumsUp) {
  const std::string json = Architecture("mlp");
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().describe_model(json.data(), json.size(), nullptr, &rows, &error), HOPPER_OK)
      << Show(error);
  const Table table = Take(rows);
  // Dense: 784 x 64 + 64 and 64 x 10 + 10 parameters, as Keras counts them.
  ASSERT_EQ(table.size(), 4u);
  const auto head = [&table](size_t row) {
    return std::vector<std::string>(table[row].begin(), table[row].begin() + 6);
  };
  using Cells = std::vector<std::string>;
  EXPECT_EQ(head(0), (Cells{"1", "dense", "Dense", "64", "50240", "50240"}));
  EXPECT_EQ(table[0][7], "input");
  EXPECT_EQ(head(1), (Cells{"2", "dropout", "Dropout", "64", "0", "0"}));
  EXPECT_EQ(table[1][7], "dense");
  EXPECT_EQ(head(2), (Cells{"3", "dense_1", "Dense", "10", "650", "650"}));
  EXPECT_EQ(table[2][7], "dropout");
  EXPECT_EQ(head(3), (Cells{"NULL", "total", "rules of Keras 3", "10", "50890", "50890"}));
  int64_t flops = 0;
  for (size_t i = 0; i < 3; ++i) flops += std::stoll(table[i][6]);
  EXPECT_EQ(std::to_string(flops), table[3][6]);
}

// Labels that are arrays are classes to some losses and numbers to others.
TEST(CoreApi, TheLossSaysWhetherOutputsAreOfClasses) {
  const std::string json = Architecture("mlp");
  hopper_data_desc data = {};
  data.x_type = HOPPER_FLOAT32;
  data.x_rank = 1;
  data.x_shape[0] = 784;
  data.y_kind = HOPPER_LABEL_ARRAY;
  data.y_type = HOPPER_INT32;
  data.y_rank = 1;
  data.y_shape[0] = 10;
  const auto meaning = [&](const std::string& loss) {
    const std::string params = "loss='" + loss + "', optimizer='sgd'";
    hopper_output_link link = {};
    hopper_error error = {};
    EXPECT_EQ(Api().output_link(json.data(), json.size(), params.c_str(), &data, 0, &link, &error),
              0)
        << Show(error);
    EXPECT_EQ(link.count, 10);
    return link.meaning;
  };
  for (const char* loss :
       {"categorical_crossentropy", "sparse_categorical_crossentropy", "bce",
        "BinaryFocalCrossentropy(gamma=1)", "categorical_focal_crossentropy",
        "categorical_generalized_cross_entropy", "CategoricalGeneralizedCrossEntropy(q=0.7)"}) {
    EXPECT_EQ(meaning(loss), HOPPER_MEANS_CLASSES) << loss;
  }
  for (const char* loss :
       {"mse", "huber", "kl_divergence", "poisson", "hinge", "categorical_hinge", "dice", "tversky",
        "cosine_similarity", "expr: (y - p)**2 # crossentropy"}) {
    EXPECT_EQ(meaning(loss), HOPPER_MEANS_VALUES) << loss;
  }
}

// A step of a model that computes next to nothing, or that cannot be read, takes its time too.
TEST(CoreApi, FlopsOfAnIterationCountEpochsAndSmallModels) {
  const std::string large = Architecture("mlp");
  const std::string small =
      R"({"class_name": "Sequential", "config": {"layers": [{"class_name": "Flatten", "config": {}}]}})";
  hopper_data_desc data = {};
  data.x_type = HOPPER_FLOAT32;
  data.x_rank = 1;
  data.x_shape[0] = 784;
  data.y_kind = HOPPER_LABEL_CLASS;
  data.y_type = HOPPER_INT32;
  data.num_classes = 10;
  data.n_partitions = 1;
  data.n_rows = 50;
  hopper_config configs[4] = {};
  const std::string* const models[] = {&large, &large, &small, &small};
  const char* const fit[] = {"epochs=1", "epochs=8", "epochs=1", "epochs="};
  for (int i = 0; i < 4; ++i) {
    configs[i].model_arch = models[i]->c_str();
    configs[i].model_arch_size = models[i]->size();
    configs[i].compile_params = "optimizer='sgd',loss='categorical_crossentropy'";
    configs[i].fit_params = fit[i];
  }
  double flops[4] = {};
  hopper_error error = {};
  ASSERT_EQ(Api().iteration_flops(configs, 4, &data, flops, &error), HOPPER_OK) << Show(error);
  EXPECT_DOUBLE_EQ(flops[1], 8.0 * flops[0]);
  hopper_model_info info = {};
  ASSERT_EQ(Api().inspect_model(large.data(), large.size(), &info, &error), HOPPER_OK);
  EXPECT_GT(flops[0], 3.0 * 50.0 * static_cast<double>(info.flops));
  EXPECT_GT(flops[2], 0.05 * flops[0]);
  EXPECT_DOUBLE_EQ(flops[3], flops[2]);
}

TEST(CoreApi, DescribeModelNamesAllInputs) {
  const std::string json = Architecture("residual");
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().describe_model(json.data(), json.size(), nullptr, &rows, &error), HOPPER_OK)
      << Show(error);
  bool several = false;
  for (const auto& row : Take(rows)) several = several || row[7].find(", ") != std::string::npos;
  EXPECT_TRUE(several);
}

TEST(CoreApi, DescribeModelOfEveryKerasModelAddsUp) {
  for (const Json& model : KerasModels()) {
    const std::string json = model.at("architecture").dump();
    hopper_rows* rows = nullptr;
    hopper_error error = {};
    if (Api().describe_model(json.data(), json.size(), nullptr, &rows, &error) != HOPPER_OK)
      continue;
    const Table table = Take(rows);
    int64_t parameters = 0, trainable = 0, flops = 0;
    for (size_t i = 0; i + 1 < table.size(); ++i) {
      parameters += std::stoll(table[i][4]);
      trainable += std::stoll(table[i][5]);
      flops += std::stoll(table[i][6]);
    }
    EXPECT_EQ(std::to_string(parameters), table.back()[4]) << model.at("name");
    EXPECT_EQ(std::to_string(trainable), table.back()[5]) << model.at("name");
    EXPECT_EQ(std::to_string(flops), table.back()[6]) << model.at("name");
  }
}

}  // namespace
}  // namespace hopper
