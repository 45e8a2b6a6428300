// All problems of configurations, word for word.
#include "model/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/architectures.h"
#include "model/spec.h"
#include "support/data_desc.h"

namespace hopper {
namespace {

using hopper_test::DenseEntry;
using hopper_test::LayerEntry;
using hopper_test::SequentialModel;
using nlohmann::json;

constexpr char kCategorical[] = "loss='categorical_crossentropy', optimizer='SGD()'";
constexpr char kSparse[] = "loss='sparse_categorical_crossentropy', optimizer='SGD()'";
constexpr char kBinary[] = "loss='binary_crossentropy', optimizer='SGD()'";
constexpr char kMse[] = "loss='mse', optimizer='SGD()'";

std::string Classifier(int units, const std::string& activation, std::vector<int> input = {4}) {
  return SequentialModel(input, {DenseEntry(units, activation)}).dump();
}

// A packed table "train" with columns "x" and "y".
struct Table {
  explicit Table(const LabelsDesc& labels) : desc(MakeDesc(ValueType::kFloat32, {4}, labels, 400)) {
    desc.n_partitions = 4;
    desc.table_name = "train";
    desc.x_column = "x";
    output().column = "y";
  }
  static Table Classes(int n) {
    Table table({LabelKind::kClass, ValueType::kInt16, {}, n});
    for (int i = 0; i < n; ++i) {
      table.output().class_values.emplace_back(std::to_string(10 + i));
    }
    return table;
  }
  static Table Values() { return Table({LabelKind::kValue, ValueType::kFloat32, {}}); }
  static Table Arrays(const std::vector<int64_t>& shape, ValueType type = ValueType::kFloat32) {
    return Table({LabelKind::kArray, type, shape});
  }
  Table& Input(const std::vector<int64_t>& shape, ValueType type = ValueType::kFloat32) {
    SetFeatures(type, shape, &desc);
    return *this;
  }
  DataOutput& output() { return desc.outputs[0]; }

  DataDesc desc;
};

std::vector<ConfigProblem> Check(const std::string& model, const char* compile, const char* fit,
                                 const Table* table, const std::vector<float>& weights = {}) {
  ConfigSource config;
  config.mst_key = 7;
  config.model_arch = model;
  config.compile_params = compile;
  config.fit_params = fit;
  config.weights = weights.empty() ? nullptr : weights.data();
  config.n_weights = static_cast<int64_t>(weights.size());
  return CheckConfigs({config}, table == nullptr ? nullptr : &table->desc);
}

// "": no problem; else the messages, warnings marked.
std::string Messages(const std::vector<ConfigProblem>& problems) {
  std::string text;
  for (const ConfigProblem& problem : problems) {
    EXPECT_EQ(problem.mst_key, 7);
    if (!text.empty()) text += "; ";
    text += (problem.problem.warning ? "warning: " : "") + problem.problem.message;
  }
  return text;
}

std::string Verdict(const std::string& model, const char* compile, const Table& table,
                    const char* fit = "batch_size=16") {
  return Messages(Check(model, compile, fit, &table));
}

TEST(CheckConfigs, BinaryLossOfExclusiveClasses) {
  const std::string warning =
      "warning: loss \"binary_crossentropy\" takes each of the 3 outputs of softmax for a question "
      "of "
      "its own";
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kBinary, Table::Classes(3)), warning);
  EXPECT_EQ(Verdict(Classifier(2, "softmax"), kBinary, Table::Classes(2)), "");
  EXPECT_EQ(Verdict(Classifier(3, "sigmoid"), kBinary, Table::Classes(3)), "");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kBinary, Table::Arrays({3})), "");
}

TEST(CheckConfigs, MeasuresOfNumbersOnClasses) {
  const auto places = [](int n) {
    Table table = Table::Classes(n);
    for (int i = 0; i < n; ++i)
      table.output().class_values[static_cast<size_t>(i)] = std::to_string(i);
    return table;
  };
  // Classes are called 0, 1, ...: Brier's score, as long as they are few.
  EXPECT_EQ(Verdict(Classifier(49, "softmax"), kMse, places(49)), "");
  EXPECT_EQ(Verdict(Classifier(50, "softmax"), kMse, places(50)),
            "loss \"mse\" needs numbers but column \"y\" of \"train\" holds 50 classes");
  EXPECT_EQ(Verdict(Classifier(49, "softmax"), kMse, Table::Classes(49)),
            "warning: loss \"mse\" is not of the numbers in column \"y\"");
  EXPECT_EQ(Verdict(Classifier(2, "softmax"), kMse, Table::Classes(2)), "");
  EXPECT_EQ(
      Verdict(Classifier(50, "softmax"),
              "loss='categorical_crossentropy', optimizer='SGD()', metrics=['accuracy', 'mae']",
              Table::Classes(50)),
      "metric \"mae\" needs numbers but column \"y\" of \"train\" holds 50 classes");
  EXPECT_EQ(Verdict(Classifier(50, "softmax"), kCategorical, Table::Classes(50)), "");
  Table words = Table::Classes(50);
  for (auto& value : words.output().class_values) value = "word " + *value;
  EXPECT_EQ(Verdict(Classifier(50, "softmax"), kMse, words), "");
}

TEST(CheckConfigs, LabelsOfALossOfProbabilities) {
  const auto verdict = [](const char* compile, double least, double largest, bool known = true) {
    Table table = Table::Arrays({3});
    if (known) table.output().range = LabelRange{least, largest};
    return Verdict(Classifier(3, "sigmoid"), compile, table);
  };
  EXPECT_EQ(verdict(kBinary, 0.0, 1.0), "");
  EXPECT_EQ(verdict(kBinary, 0.25, 0.5), "");
  EXPECT_NE(verdict(kBinary, -1.0, 1.0).find("from -1 to 1"), std::string::npos);
  EXPECT_NE(verdict(kBinary, 0.0, 255.0).find("needs labels from 0 to 1"), std::string::npos);
  EXPECT_EQ(verdict(kMse, -1.0, 7.0), "");
  EXPECT_EQ(verdict(kBinary, -1.0, 7.0, false), "");
}

TEST(CheckConfigs, IdsThatAreCut) {
  const auto verdict = [](const char* first, ValueType type, double divisor) {
    Table table = Table::Classes(3).Input({4}, type);
    table.desc.normalizing_const = divisor;
    std::vector<json> layers = {LayerEntry("Flatten", json::object()), DenseEntry(3, "softmax")};
    if (first != nullptr) {
      const json config = {{"name", "words"}, {"input_dim", 8}, {"output_dim", 2}};
      layers.insert(layers.begin(), LayerEntry(first, config));
    }
    return Verdict(SequentialModel({4}, layers).dump(), kCategorical, table);
  };
  EXPECT_EQ(verdict("Embedding", ValueType::kInt16, 1.0), "");
  EXPECT_EQ(verdict("Embedding", ValueType::kInt16, 10.0),
            "warning: layer \"words\" takes ids but column \"x\" of \"train\" is divided by "
            "normalizing_const");
  EXPECT_EQ(verdict("Embedding", ValueType::kFloat32, 1.0),
            "warning: layer \"words\" takes ids but column \"x\" of \"train\" holds floating-point "
            "numbers");
  EXPECT_EQ(verdict(nullptr, ValueType::kFloat32, 10.0), "");
}

TEST(CheckConfigs, InputShape) {
  const std::string images = SequentialModel({28, 28, 1}, {LayerEntry("Flatten", json::object()),
                                                           DenseEntry(3, "softmax")})
                                 .dump();
  EXPECT_EQ(Verdict(images, kCategorical, Table::Classes(3).Input({28, 28, 1})), "");
  EXPECT_EQ(Verdict(images, kCategorical, Table::Classes(3).Input({28, 28})), "");
  const Table flat = Table::Classes(3).Input({784});
  const auto problems = Check(images, kCategorical, "batch_size=16", &flat);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].problem.code, ErrorCode::kInvalidParameter);
  EXPECT_EQ(problems[0].problem.message,
            "model expects input of shape 28x28x1 but column \"x\" holds 784 values");
  EXPECT_EQ(problems[0].problem.hint, "Reshape when packing, or start the model with Reshape.");
  EXPECT_EQ(Verdict(images, kCategorical, Table::Classes(3).Input({28, 28, 3})),
            "model expects input of shape 28x28x1 but column \"x\" holds values of shape 28x28x3");
  // A model that states no shape takes the data's.
  json open = SequentialModel({4}, {DenseEntry(3, "softmax")});
  open["config"]["layers"].erase(0);
  EXPECT_EQ(Verdict(open.dump(), kCategorical, Table::Classes(3)), "");
  EXPECT_EQ(Messages(Check(open.dump(), kCategorical, "", nullptr)), "");
}

// A larger row could be stored, but no pg_dump could write the database any more.
TEST(CheckConfigs, WeightsThatCannotBeWrittenAsText) {
  const auto parameters = [](int units) {
    return SequentialModel({2}, {DenseEntry(units, "relu"), DenseEntry(units, "relu"),
                                 DenseEntry(2, "softmax")})
        .dump();
  };
  const Table table = Table::Classes(2).Input({2});
  EXPECT_TRUE(Check(parameters(11500), kCategorical, "", &table).empty());
  const std::vector<ConfigProblem> problems = Check(parameters(11600), kCategorical, "", &table);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].problem.code, ErrorCode::kLimitExceeded);
  EXPECT_NE(problems[0].problem.message.find("134629602 parameters"), std::string::npos);
}

TEST(CheckConfigs, ClassesAgainstOutputUnits) {
  const Table ten = Table::Classes(12);
  const auto problems = Check(Classifier(10, "softmax"), kCategorical, "batch_size=16", &ten);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].problem.message, "label values of \"train\" do not fit 10 output units");
  EXPECT_EQ(problems[0].problem.detail, "Found 12 distinct values, for example 20.");
  EXPECT_EQ(problems[0].problem.hint, "Use one output unit a class.");
  EXPECT_EQ(Verdict(Classifier(12, "softmax"), kSparse, ten), "");
  EXPECT_EQ(Verdict(Classifier(12, "softmax"), kMse, ten),
            "warning: loss \"mse\" is not of the numbers in column \"y\"");
  EXPECT_EQ(Verdict(Classifier(12, "sigmoid"), kBinary, ten), "");
  EXPECT_EQ(Verdict(Classifier(14, "softmax"), kCategorical, ten),
            "label values of \"train\" do not fit 14 output units");
  EXPECT_EQ(Verdict(Classifier(1, "sigmoid"), kBinary, ten),
            "label values of \"train\" do not fit 1 output unit");
  EXPECT_EQ(Verdict(Classifier(1, "sigmoid"), kBinary, Table::Classes(2)), "");
  EXPECT_EQ(Verdict(Classifier(2, "softmax"), kBinary, Table::Classes(2)), "");
  EXPECT_EQ(Verdict(Classifier(1, "softmax"), kBinary, Table::Classes(2)),
            "softmax over one output unit is always 1");
  EXPECT_EQ(Verdict(Classifier(1, "sigmoid"), kCategorical, Table::Classes(2)),
            "loss \"categorical_crossentropy\" needs one output unit a class but the model has 1 "
            "output unit");
  EXPECT_EQ(Verdict(SequentialModel({4, 4}, {DenseEntry(3, "softmax")}).dump(), kCategorical,
                    Table::Classes(3).Input({4, 4})),
            "model output has shape 4x3 but column \"y\" holds one label an example");
}

TEST(CheckConfigs, NumbersAndArrays) {
  EXPECT_EQ(Verdict(Classifier(1, "linear"), kMse, Table::Values()), "");
  EXPECT_EQ(Verdict(Classifier(2, "linear"), kMse, Table::Values()),
            "label values of \"train\" do not fit 2 output units");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kCategorical, Table::Values()),
            "loss \"categorical_crossentropy\" needs classes but column \"y\" holds numbers");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kCategorical, Table::Arrays({3})), "");
  EXPECT_EQ(Verdict(Classifier(3, "linear"), kMse, Table::Arrays({3})), "");
  EXPECT_EQ(Verdict(Classifier(1, "linear"), kMse, Table::Arrays({1})), "");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kCategorical, Table::Arrays({4})),
            "label arrays of \"train\" do not fit an output of shape 3");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kSparse, Table::Arrays({1}, ValueType::kInt32)), "");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kSparse, Table::Arrays({3}, ValueType::kInt32)),
            "label arrays of \"train\" do not fit an output of shape 3");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kSparse, Table::Arrays({3})),
            "loss \"sparse_categorical_crossentropy\" needs classes but column \"y\" holds arrays "
            "of floating-point numbers");
}

TEST(CheckConfigs, Warnings) {
  EXPECT_EQ(Verdict(Classifier(3, "linear"), kCategorical, Table::Classes(3)),
            "warning: loss \"categorical_crossentropy\" expects probabilities but the model does "
            "not end in softmax");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kCategorical, Table::Classes(3), "batch_size=100"),
            "");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kCategorical, Table::Classes(3), "batch_size=101"),
            "warning: batch_size 101 is larger than a partition of \"train\"");
  const std::string top3 = std::string(kCategorical) + ", metrics=['top_k(3)']";
  EXPECT_EQ(Verdict(Classifier(4, "softmax"), top3.c_str(), Table::Classes(4)), "");
  const auto problems =
      Messages(Check(Classifier(3, "softmax"), top3.c_str(), "batch_size=16", nullptr));
  EXPECT_EQ(problems, "");
  EXPECT_NE(Verdict(Classifier(3, "softmax"), top3.c_str(), Table::Classes(3))
                .find("is always 1 with 3 output units"),
            std::string::npos);
  json frozen = SequentialModel({4}, {DenseEntry(3, "softmax")});
  frozen["config"]["trainable"] = false;
  EXPECT_EQ(Verdict(frozen.dump(), kCategorical, Table::Classes(3)),
            "warning: model \"sequential\" has no weights to train");
}

TEST(CheckConfigs, LossesFromLogits) {
  constexpr char kLogits[] = "loss=CategoricalCrossentropy(from_logits=True), optimizer='SGD()'";
  EXPECT_EQ(Verdict(Classifier(3, "linear"), kLogits, Table::Classes(3)), "");
  EXPECT_EQ(Verdict(Classifier(3, "softmax"), kLogits, Table::Classes(3)),
            "warning: from_logits=True has no effect on a model that ends in an activation");
  EXPECT_EQ(Verdict(Classifier(3, "linear"), "loss='huber', optimizer='SGD()'", Table::Classes(3)),
            "warning: loss \"huber\" is not of the numbers in column \"y\"");
}

TEST(CheckConfigs, AxesAndClassesThatTheOutputLacks) {
  const auto verdict = [](int units, const std::string& loss, const std::string& metric) {
    const std::string compile = "loss=" + loss + ", optimizer='SGD()', metrics=[" + metric + "]";
    return Verdict(Classifier(units, units == 1 ? "sigmoid" : "softmax"), compile.c_str(),
                   Table::Classes(std::max(units, 2)));
  };
  EXPECT_EQ(verdict(3, "Dice(axis=(0, -1))", "Dice(axis=1)"), "");
  EXPECT_EQ(verdict(3, "Dice(axis=2)", ""),
            "axis 2 of loss \"Dice\" does not exist in an output of shape 3");
  EXPECT_EQ(verdict(3, "dice", "Tversky(axis=-3)"),
            "axis -3 of metric \"Tversky(axis=-3)\" does not exist in an output of shape 3");
  EXPECT_EQ(verdict(3, "categorical_crossentropy", "Precision(class_id=2)"), "");
  EXPECT_EQ(verdict(3, "categorical_crossentropy", "Precision(class_id=3)"),
            "metric \"Precision(class_id=3)\" names the class 3 but the model has 3 output units");
  EXPECT_EQ(verdict(1, "bce", "OneHotIoU(2, [1])"), "");
  EXPECT_EQ(verdict(3, "categorical_crossentropy", "'OneHotIoU(4, [3])'"),
            "metric \"OneHotIoU(4, [3])\" names the class 3 of 3");
  EXPECT_EQ(verdict(1, "bce", "PearsonCorrelation"),
            "metric \"PearsonCorrelation\" needs several output units but the model has 1 output "
            "unit");
  EXPECT_EQ(verdict(1, "CategoricalGeneralizedCrossEntropy", ""),
            "loss \"categorical_generalized_cross_entropy\" needs one output unit a class but the "
            "model has 1 output unit");
}

TEST(CheckConfigs, ClassWeights) {
  const std::string model = Classifier(3, "softmax");
  const Table three = Table::Classes(3);  // named "10", "11", "12"
  EXPECT_EQ(Verdict(model, kCategorical, three, "class_weight={0: 1.0, 2: 3.0, '11': 2.0}"), "");
  EXPECT_EQ(Verdict(model, kCategorical, three, "class_weight={3: 1.0}"),
            "class_weight names the class 3 of 3");
  EXPECT_EQ(Verdict(model, kCategorical, three, "class_weight={'13': 1.0}"),
            "class_weight names the class \"13\", which \"train\" does not have");
  EXPECT_EQ(Verdict(model, kCategorical, Table::Arrays({3}), "class_weight={0: 1.0}"),
            "class_weight needs class labels but column \"y\" holds arrays");
  // A number that could mean a label.
  Table shifted = three;
  shifted.output().class_values = {"1", "2", "3"};
  EXPECT_EQ(Verdict(model, kCategorical, shifted, "class_weight={0: 4.0, '1': 0.1}"), "");
  EXPECT_EQ(Verdict(model, kCategorical, shifted, "class_weight={1: 4.0}"),
            "warning: class_weight of 1 is that of the class '2'");
  EXPECT_EQ(Verdict(model, kCategorical, shifted, "class_weight={3: 4.0}"),
            "class_weight names the class 3 of 3");
  shifted.output().class_values = {"0", "1", "2"};
  EXPECT_EQ(Verdict(model, kCategorical, shifted, "class_weight={1: 4.0}"), "");
  // SQL's NULL is no text that could be named.
  shifted.output().class_values = {std::nullopt, "0", "1"};
  EXPECT_EQ(Verdict(model, kCategorical, shifted, "class_weight={0: 4.0}"),
            "warning: class_weight of 0 is that of the class NULL");
  EXPECT_EQ(Verdict(model, kCategorical, shifted, "class_weight={'': 4.0}"),
            "class_weight names the class \"\", which \"train\" does not have");
}

TEST(CheckConfigs, Weights) {
  const std::string model = Classifier(3, "softmax");
  std::vector<float> weights(15, 0.5F);
  const Table three = Table::Classes(3);
  EXPECT_EQ(Messages(Check(model, kCategorical, "batch_size=16", &three, weights)), "");
  weights[13] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(Messages(Check(model, kCategorical, "batch_size=16", &three, weights))
                .find("/bias\" holds values that are not finite"),
            std::string::npos);
  weights.resize(14);
  EXPECT_EQ(Messages(Check(model, kCategorical, "batch_size=16", &three, weights)),
            "weights hold 14 values but the model has 15 parameters");
}

// One error names everything: problems of architectures, of both parameter texts, of the data.
TEST(CheckConfigs, CollectsAcrossConfigurations) {
  const std::string broken = "{";
  const std::string good = Classifier(3, "softmax");
  std::vector<ConfigSource> configs(4);
  for (size_t i = 0; i < configs.size(); ++i) {
    const std::string& model = i % 2 == 0 ? broken : good;
    configs[i].mst_key = static_cast<int32_t>(i) + 1;
    configs[i].model_arch = model;
    configs[i].compile_params = i < 2 ? "loss='nonsense', optimizer='SGD()'" : kCategorical;
    if (i == 3) configs[i].fit_params = "batch_size=-1";
  }
  std::vector<int> errors(5, 0);
  for (const ConfigProblem& problem : CheckConfigs(configs, nullptr)) {
    ASSERT_GE(problem.mst_key, 1);
    ASSERT_LE(problem.mst_key, 4);
    if (!problem.problem.warning) ++errors[static_cast<size_t>(problem.mst_key)];
  }
  EXPECT_EQ(errors, (std::vector<int>{0, 2, 1, 1, 1}));
}

}  // namespace
}  // namespace hopper
