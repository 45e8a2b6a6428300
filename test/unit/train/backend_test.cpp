// Backends: what planned steps and loops compute, and what wants libtorch.
#include "train/backend.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "model/network/network.h"
#include "support/autograd.h"
#include "support/data_desc.h"
#include "support/keras_models.h"
#include "support/packed_table.h"
#include "train/trainer.h"

namespace hopper {
namespace {

CompileParams Compiled(const std::string& text, const ModelSpec& spec) {
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams("optimizer='Adam(lr=0.01)', " + text, &problems);
  FitToOutputs(spec.OutputNames(), /*weighted=*/false, &compile, &problems);
  EXPECT_TRUE(problems.empty()) << text << ": " << problems.front().message;
  return compile;
}

DataDesc OfClasses(std::vector<int64_t> shape) {
  return MakeDesc(ValueType::kFloat32, std::move(shape),
                  {LabelKind::kClass, ValueType::kInt16, {}, 3}, 40);
}

// Steps, each with a class.
std::string Tagger() {
  return KerasSequential(
      {KerasLayer("LSTM", "cells",
                  R"("units": 5, "return_sequences": true, "batch_input_shape": [null, 4, 3])"),
       KerasDense("tags", 3, "softmax")});
}

bool Needs(const std::string& model, const std::string& compile, const DataDesc& data) {
  const auto spec = ParseModel(model, nullptr);
  return NeedsTorch(Compiled(compile, *spec), spec, data);
}

TEST(NeedsTorch, NotForWhatHasPlannedStepsAndLoops) {
  for (const char* compile :
       {"loss='categorical_crossentropy', metrics=['accuracy', 'auc', 'TopK(2)', 'mse']",
        "loss='sparse_categorical_crossentropy', metrics=['f1_score', 'Precision(top_k=1)']",
        "loss=CategoricalCrossentropy(label_smoothing=0.1), metrics=['crossentropy', 'mcc']",
        "loss='binary_focal_crossentropy', metrics=['pearson_correlation', 'cosine_similarity']",
        "loss='dice', metrics=['tversky', 'r2_score', 'mean_io_u', 'AUC(from_logits=True)']",
        "loss='Dice(axis=1)', metrics=[]", "loss='huber', metrics=['rmse', 'balanced_accuracy']"}) {
    EXPECT_FALSE(Needs(MlpJson(20, 8, 3), compile, OfClasses({20}))) << compile;
  }
  const DataDesc tags =
      MakeDesc(ValueType::kFloat32, {4, 3}, {LabelKind::kArray, ValueType::kFloat32, {4}, 0}, 40);
  EXPECT_FALSE(Needs(Tagger(),
                     "loss=SparseCategoricalCrossentropy(ignore_class=1), "
                     "metrics=['accuracy', 'mse', 'mean_io_u']",
                     tags));
}

TEST(NeedsTorch, ForExpressionsSomeAxesAndLayersWithoutAPlannedForm) {
  const std::string mlp = MlpJson(20, 8, 3);
  for (const char* compile :
       {"loss='expr: mean(square(y - p))', metrics=['accuracy']",
        "loss='mse', metrics=['expr hits: mean(round(p) == y)']", "loss='Dice(axis=0)', metrics=[]",
        "loss='mse', metrics=['Dice(axis=0)']"}) {
    EXPECT_TRUE(Needs(mlp, compile, OfClasses({20}))) << compile;
  }
  const std::string groups =
      KerasSequential({KerasLayer("Conv2D", "groups",
                                  R"("batch_input_shape": [null, 7, 7, 24], "filters": 24,
                     "kernel_size": [3, 3], "groups": 12)"),
                       KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "softmax")});
  EXPECT_TRUE(Needs(groups, "loss='categorical_crossentropy', metrics=[]", OfClasses({7, 7, 24})));
}

struct Outcome {
  std::vector<float> weights;
  std::vector<double> numbers;
};

Outcome Train(const std::string& model, const std::string& compile,
              const TrainingBackend& backend) {
  at::set_num_threads(1);
  const PackedTable table({/*rows=*/203, /*partitions=*/1});
  const Dataset data = DatasetOf(table);
  const auto spec = ParseModel(model, &data.desc().x_shape);
  std::vector<ParamProblem> problems;
  const Trainer trainer(backend.MakeNetwork(spec), Compiled(compile, *spec),
                        ParseFitParams("batch_size=32, class_weight={1: 2.0}", &problems),
                        data.desc(), backend, 7);
  ModelState state = trainer.InitialState(nullptr, "class");
  const std::atomic<bool> cancel{false};
  Outcome outcome;
  MetricSums sums, evaluated;
  EXPECT_EQ(trainer.Visit(&state, data.partition(0), 0, cancel, &sums), VisitEnd::kDone);
  trainer.Evaluate(state.params.data(), data.partition(0), cancel, &evaluated);
  for (const MetricSums& one : {sums, evaluated}) {
    outcome.numbers.push_back(one.loss);
    outcome.numbers.insert(outcome.numbers.end(), one.metrics.begin(), one.metrics.end());
  }
  outcome.weights.assign(state.params.data(), state.params.data() + state.params.size());
  return outcome;
}

TEST(TrainingBackend, GivesTheBitsThatLibtorchsGives) {
  const std::string frozen = KerasSequential(
      {KerasDense("frozen", 30, "relu", R"("batch_input_shape": [null, 20], "trainable": false)"),
       KerasDense("more", 30, "relu", R"("trainable": false)"), KerasDense("last", 3, "softmax")});
  for (const std::string& model : {MlpJson(20, 8, 3), frozen}) {
    for (const char* compile :
         {"loss='categorical_crossentropy', metrics=['accuracy', 'auc', 'mse', 'crossentropy']",
          "loss='kl_divergence', metrics=['TopK(2)', 'f1_score', 'r2_score']"}) {
      const Outcome here = Train(model, compile, TrainingBackend());
      const Outcome by_torch = Train(model, compile, Autograd());
      EXPECT_EQ(here.weights, by_torch.weights) << compile;
      EXPECT_EQ(here.numbers, by_torch.numbers) << compile;
    }
  }
}

TEST(TrainingBackend, RefusesWhatItHasNoLoopFor) {
  EXPECT_THROW(
      Train(MlpJson(20, 8, 3), "loss='expr: mean(square(y - p))', metrics=[]", TrainingBackend()),
      Error);
}

}  // namespace
}  // namespace hopper
