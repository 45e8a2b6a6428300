#include <gtest/gtest.h>

#include "optim/optimizer_type.h"
#include "params/callable.h"
#include "params/loss_names.h"
#include "params/metric_params.h"
#include "params/metric_type.h"
#include "params/optimizer_params.h"
#include "params/other_names.h"
#include "params/problems.h"

namespace hopper {
namespace {

using Strings = std::vector<std::string>;

const std::string kRest = ", loss='mse', metrics=['mae']";

Strings Problems(const std::string& text) {
  std::vector<ParamProblem> problems;
  ParseCompileParams(text, &problems);
  return Describe(problems);
}

CompileParams Parse(const std::string& text) {
  std::vector<ParamProblem> problems;
  CompileParams params = ParseCompileParams(text, &problems);
  EXPECT_EQ(Describe(problems), Strings{}) << text;
  return params;
}

OptimizerParams Optimizer(const std::string& text) {
  return Parse("optimizer=" + text + kRest).optimizer;
}

Strings OptimizerProblems(const std::string& text) { return Problems("optimizer=" + text + kRest); }

TEST(CompileParams, MadlibsExample) {
  const CompileParams params = Parse(
      " loss='categorical_crossentropy', optimizer='Adam(lr=0.01, decay=1e-6)', "
      "metrics=['accuracy'] ");
  EXPECT_EQ(params.loss, LossKind::kCategoricalCrossentropy);
  EXPECT_EQ(params.loss_name, "categorical_crossentropy");
  EXPECT_STREQ(params.optimizer.type->name, "Adam");
  EXPECT_EQ(params.optimizer.learning_rate, 0.01);
  EXPECT_EQ(params.optimizer.decay, 1e-6);
  ASSERT_EQ(params.metrics.size(), 1u);
  EXPECT_EQ(params.metrics[0].type, FindMetric("accuracy"));
  EXPECT_EQ(params.metrics[0].name, "accuracy");
}

TEST(CompileParams, EverySpellingOfAnOptimizerIsTheSame) {
  for (const char* text : {"'Adam(lr=0.1)'", "Adam(lr=0.1)", "\"adam(lr=0.1)\"", "ADAM(lr=.1)",
                           "'Adam( learning_rate = 0.1 )'", "adam(0.1)",
                           "keras.optimizers.Adam(lr=1e-1)", "'tf.keras.optimizers.Adam(lr=0.1,)'",
                           "{'class_name': 'Adam', 'config': {'learning_rate': 0.1}}"}) {
    const OptimizerParams params = Optimizer(text);
    EXPECT_STREQ(params.type->name, "Adam") << text;
    EXPECT_EQ(params.learning_rate, 0.1) << text;
  }
  for (const char* text : {"'sgd'", "sgd", "SGD()", "'Sgd()'"}) {
    EXPECT_STREQ(Optimizer(text).type->name, "SGD") << text;
  }
  for (const char* text : {"'rmsprop'", "RMSprop", "'RMSprop()'"}) {
    EXPECT_STREQ(Optimizer(text).type->name, "RMSprop") << text;
  }
}

// Keras 3's documented defaults.
TEST(CompileParams, Defaults) {
  const OptimizerParams sgd = Optimizer("SGD");
  EXPECT_EQ(sgd.learning_rate, 0.01);
  EXPECT_EQ(sgd.Own("momentum"), 0.0);
  EXPECT_FALSE(sgd.Own("nesterov"));
  const OptimizerParams rmsprop = Optimizer("RMSprop");
  EXPECT_EQ(rmsprop.learning_rate, 0.001);
  EXPECT_EQ(rmsprop.Own("rho"), 0.9);
  EXPECT_EQ(rmsprop.Own("momentum"), 0.0);
  EXPECT_EQ(rmsprop.Own("epsilon"), 1e-7);
  EXPECT_FALSE(rmsprop.Own("centered"));
  const OptimizerParams adam = Optimizer("Adam");
  EXPECT_EQ(adam.learning_rate, 0.001);
  EXPECT_EQ(adam.Own("beta_1"), 0.9);
  EXPECT_EQ(adam.Own("beta_2"), 0.999);
  EXPECT_EQ(adam.Own("epsilon"), 1e-7);
  EXPECT_FALSE(adam.Own("amsgrad"));
  EXPECT_EQ(adam.decay, 0.0);
  EXPECT_FALSE(adam.clipnorm);
  EXPECT_FALSE(adam.clipvalue);
}

TEST(CompileParams, OptimizerArguments) {
  const OptimizerParams sgd =
      Optimizer("SGD(lr=0.1, momentum=0.9, nesterov=True, decay=0.001, clipnorm=1)");
  EXPECT_EQ(sgd.Own("momentum"), 0.9);
  EXPECT_TRUE(sgd.Own("nesterov"));
  EXPECT_EQ(sgd.decay, 0.001);
  EXPECT_EQ(sgd.clipnorm, 1.0);
  const OptimizerParams rmsprop =
      Optimizer("RMSprop(rho=0.95, momentum=0.5, epsilon=1e-6, centered=True, clipvalue=0.5)");
  EXPECT_EQ(rmsprop.Own("rho"), 0.95);
  EXPECT_EQ(rmsprop.Own("momentum"), 0.5);
  EXPECT_EQ(rmsprop.Own("epsilon"), 1e-6);
  EXPECT_TRUE(rmsprop.Own("centered"));
  EXPECT_EQ(rmsprop.clipvalue, 0.5);
  const OptimizerParams adam = Optimizer("Adam(beta_1=0.8, beta_2=0.99, epsilon=1, amsgrad=True)");
  EXPECT_EQ(adam.Own("beta_1"), 0.8);
  EXPECT_EQ(adam.Own("beta_2"), 0.99);
  EXPECT_EQ(adam.Own("epsilon"), 1.0);
  EXPECT_TRUE(adam.Own("amsgrad"));
}

// MADlib casts every argument through a truth test.
TEST(CompileParams, FalseIsFalse) {
  EXPECT_FALSE(Optimizer("'SGD(lr=0.1, nesterov=False)'").Own("nesterov"));
  EXPECT_FALSE(Optimizer("'Adam(amsgrad=False)'").Own("amsgrad"));
}

TEST(CompileParams, NoneIsTheDefault) {
  EXPECT_EQ(Optimizer("'Adam(epsilon=None)'").Own("epsilon"), 1e-7);
  EXPECT_FALSE(Optimizer("Adam(clipnorm=None)").clipnorm);
}

TEST(CompileParams, OptimizerMessages) {
  std::vector<std::string> names;
  for (const OptimizerType& type : OptimizerTypes()) names.emplace_back(type.name);
  const std::string choice = "Use one of " + Join(names) + ".";
  EXPECT_EQ(OptimizerProblems("'Adam(lr_rate=0.1)'"),
            Strings{"1 optimizer \"Adam\" has no argument \"lr_rate\" | HINT Perhaps you meant "
                    "\"learning_rate\"."});
  EXPECT_EQ(OptimizerProblems("'adam(momentum=0.1)'"),
            Strings{"1 optimizer \"Adam\" has no argument \"momentum\" | HINT Its arguments are "
                    "learning_rate, lr, decay, weight_decay, clipnorm, clipvalue, "
                    "global_clipnorm, use_ema, ema_momentum, ema_overwrite_frequency, beta_1, "
                    "beta_2, epsilon, amsgrad."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=-0.1)"),
            Strings{"1 learning rate must be positive, got -0.1"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=0)"), Strings{"1 learning rate must be positive, got 0"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=None)"),
            Strings{"1 learning rate must be a number, got None"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=nan)"), Strings{"1 learning rate must be a number, got nan"});
  EXPECT_EQ(OptimizerProblems("SGD(lr='0.1')"),
            Strings{"1 learning rate must be a number, got '0.1'"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=True)"),
            Strings{"1 learning rate must be a number, got True"});
  EXPECT_EQ(OptimizerProblems("SGD(momentum=1.5)"),
            Strings{"1 momentum must be between 0 and 1, got 1.5"});
  EXPECT_EQ(OptimizerProblems("SGD(nesterov=1)"),
            Strings{"1 nesterov must be True or False, got 1"});
  EXPECT_EQ(OptimizerProblems("Adam(beta_1=1)"),
            Strings{"1 beta_1 must be at least 0 and below 1, got 1"});
  EXPECT_EQ(OptimizerProblems("Adam(beta_2=-0.1)"),
            Strings{"1 beta_2 must be at least 0 and below 1, got -0.1"});
  EXPECT_EQ(OptimizerProblems("RMSprop(rho=1.0)"),
            Strings{"1 rho must be at least 0 and below 1, got 1.0"});
  EXPECT_EQ(OptimizerProblems("RMSprop(epsilon=-1e-7)"),
            Strings{"1 epsilon must not be negative, got -1e-07"});
  EXPECT_EQ(OptimizerProblems("RMSprop(decay=-1)"),
            Strings{"1 decay must not be negative, got -1"});
  EXPECT_EQ(OptimizerProblems("RMSprop(clipnorm=0)"),
            Strings{"1 clipnorm must be positive, got 0"});
  EXPECT_EQ(OptimizerProblems("RMSprop(clipvalue=-2)"),
            Strings{"1 clipvalue must be positive, got -2"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=0.1, learning_rate=0.1)"),
            Strings{"1 optimizer \"SGD\" is given two learning rates"});
  EXPECT_EQ(OptimizerProblems("'muon(lr=1)'"),
            Strings{"4 optimizer \"Muon\" is not supported | HINT " + choice});
  EXPECT_EQ(OptimizerProblems("Lion(beta_1=0)"),
            Strings{"1 beta_1 must be above 0 and at most 1, got 0"});
  EXPECT_EQ(OptimizerProblems("Ftrl(learning_rate_power=0.5)"),
            Strings{"1 learning_rate_power must not be positive, got 0.5"});
  EXPECT_EQ(OptimizerProblems("Adagrad(initial_accumulator_value=-1)"),
            Strings{"1 initial_accumulator_value must not be negative, got -1"});
  EXPECT_EQ(OptimizerProblems("AdamW(weight_decay=-0.1)"),
            Strings{"1 weight_decay must not be negative, got -0.1"});
  EXPECT_EQ(OptimizerProblems("SGD(weight_decay=nan)"),
            Strings{"1 weight_decay must be a number, got nan"});
  EXPECT_EQ(OptimizerProblems("SGD(global_clipnorm=0)"),
            Strings{"1 global_clipnorm must be positive, got 0"});
  EXPECT_EQ(OptimizerProblems("SGD(clipvalue=1, global_clipnorm=1)"),
            Strings{"1 optimizer \"SGD\" has both clipvalue and global_clipnorm | Keras allows one "
                    "of them. | HINT Leave one of them out."});
  EXPECT_EQ(OptimizerProblems("SGD(use_ema=True, ema_momentum=1.5)"),
            Strings{"1 ema_momentum must be between 0 and 1, got 1.5"});
  EXPECT_EQ(OptimizerProblems("SGD(use_ema=True, ema_overwrite_frequency=0)"),
            Strings{"1 ema_overwrite_frequency must be a positive integer, got 0"});
  EXPECT_EQ(OptimizerProblems("'adm'"),
            Strings{"1 optimizer \"adm\" is not known | HINT Perhaps you meant \"Adam\"."});
  EXPECT_EQ(OptimizerProblems("'newton'"),
            Strings{"1 optimizer \"newton\" is not known | HINT " + choice});
  EXPECT_EQ(OptimizerProblems("3"), Strings{"1 optimizer must be a name, got 3"});
  EXPECT_EQ(OptimizerProblems("'Adam(lr 0.1)'"),
            Strings{"2 optimizer \"Adam(lr 0.1)\" cannot be parsed: expected \",\" or \")\", not "
                    "\"0\" | Position 9, near \"Adam(lr 0.1)\"."});
}

TEST(CompileParams, Schedules) {
  const OptimizerParams cosine = Optimizer(
      "Adam(CosineDecay(0.0, 100, alpha=0.1, warmup_target=0.01, warmup_steps=10), beta_1=0.8)");
  EXPECT_EQ(cosine.schedule.kind, ScheduleKind::kCosineDecay);
  EXPECT_EQ(cosine.learning_rate, 0.0);
  EXPECT_EQ(cosine.schedule.decay_steps, 100);
  EXPECT_EQ(cosine.schedule.alpha, 0.1);
  EXPECT_EQ(cosine.schedule.warmup_target, 0.01);
  EXPECT_EQ(cosine.schedule.warmup_steps, 10);
  const OptimizerParams nested = Optimizer(
      "'SGD(lr=keras.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1, 0.5, 0.25]))'");
  EXPECT_EQ(nested.schedule.boundaries, (std::vector<double>{10, 20}));
  EXPECT_EQ(nested.schedule.values, (std::vector<double>{1, 0.5, 0.25}));
  EXPECT_EQ(nested.learning_rate, 1);
  EXPECT_EQ(Optimizer("SGD(lr='PolynomialDecay(0.1, 5, cycle=True)')").schedule.cycle, true);
  EXPECT_EQ(Optimizer("SGD(lr=0.1)").schedule.kind, ScheduleKind::kConstant);
}

TEST(CompileParams, ScheduleMessages) {
  const std::string owner = "learning rate schedule \"ExponentialDecay\"";
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(0.1))"),
            (Strings{"1 " + owner + " needs the argument \"decay_steps\"",
                     "1 " + owner + " needs the argument \"decay_rate\""}));
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(0.1, 0, -1))"),
            (Strings{"1 decay_steps of " + owner + " must be positive, got 0",
                     "1 decay_rate of " + owner + " must not be negative, got -1"}));
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(nan, 10, 0.5))"),
            Strings{"1 initial_learning_rate of " + owner + " must be a number, got nan"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(0.1, 10, 0.5, decay_step=3))"),
            Strings{"1 " + owner +
                    " has no argument \"decay_step\" | HINT Perhaps you meant "
                    "\"decay_steps\"."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(0.1, 10, 0.5, decay_rate=3))"),
            Strings{"1 " + owner + " is given \"decay_rate\" two times"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(0.1, 10, 0.5, True, 'x', 3))"),
            Strings{"1 " + owner +
                    " has 6 arguments without a name | HINT Its arguments are "
                    "initial_learning_rate, decay_steps, decay_rate, staircase."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentialDecay(0.1, 10, 0.5), decay=0.1)"),
            Strings{"1 optimizer \"SGD\" has both decay and a learning rate schedule | HINT Leave "
                    "one of them out."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentDecay(0.1, 10, 0.5))"),
            Strings{"1 learning rate schedule \"ExponentDecay\" is not known | HINT Perhaps you "
                    "meant \"ExponentialDecay\"."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=CosineDecayRestarts(0.1, 10))"),
            Strings{"4 learning rate schedule \"CosineDecayRestarts\" is not supported | HINT Use "
                    "one of ExponentialDecay, CosineDecay, PiecewiseConstantDecay, "
                    "InverseTimeDecay, PolynomialDecay."});
  EXPECT_EQ(
      OptimizerProblems("SGD(lr=CosineDecay(0.1, 10, warmup_steps=3))"),
      Strings{"1 warmup_steps of learning rate schedule \"CosineDecay\" needs warmup_target"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=PiecewiseConstantDecay([1, 2], [0.1, 0.2]))"),
            Strings{"1 learning rate schedule \"PiecewiseConstantDecay\" has 2 boundaries and 2 "
                    "values | There is one value more than boundaries."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=PiecewiseConstantDecay([2, 2], [0.1, 0.2, 0.3]))"),
            Strings{"1 boundaries of learning rate schedule \"PiecewiseConstantDecay\" must "
                    "increase"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=PiecewiseConstantDecay(2, [0.1, -0.2]))"),
            (Strings{"1 boundaries of learning rate schedule \"PiecewiseConstantDecay\" must be a "
                     "list of numbers, got 2",
                     "1 values of learning rate schedule \"PiecewiseConstantDecay\" must not be "
                     "negative, got -0.2"}));
}

TEST(CompileParams, SeveralProblemsAreAllNamed) {
  EXPECT_EQ(
      Problems("optimizer=SGD(lr=-1, momentum=2, foo=3), metrics=['nope'], optimiser=1"),
      (Strings{"1 learning rate must be positive, got -1",
               "1 momentum must be between 0 and 1, got 2",
               "1 optimizer \"SGD\" has no argument \"foo\" | HINT Its arguments are "
               "learning_rate, lr, decay, weight_decay, clipnorm, clipvalue, "
               "global_clipnorm, use_ema, ema_momentum, ema_overwrite_frequency, momentum, "
               "nesterov.",
               "1 metric \"nope\" is not known | HINT Use one of " + Join(MetricNames(false)) + ".",
               "1 compile_params has no argument \"optimiser\" | HINT Perhaps you meant "
               "\"optimizer\".",
               "1 compile_params names no loss | HINT Add loss='categorical_crossentropy', "
               "for example."}));
}

TEST(CompileParams, OptimizerAndLossAreRequired) {
  const Strings missing = {
      "1 compile_params names no optimizer | HINT Add optimizer='Adam(lr=0.001)', for example.",
      "1 compile_params names no loss | HINT Add loss='categorical_crossentropy', for example."};
  EXPECT_EQ(Problems(""), missing);
  EXPECT_EQ(Problems("metrics=['accuracy']"), missing);
  EXPECT_EQ(Problems("loss=None, optimizer=None"), missing);
  EXPECT_EQ(Problems("{}"), missing);
}

TEST(CompileParams, SyntaxErrorsHaveCodePositionAndHint) {
  EXPECT_EQ(Problems("loss='mse' optimizer='SGD'"),
            Strings{"2 compile_params cannot be parsed: expected \",\", not \"optimizer\" | "
                    "Position 12, near \"oss='mse' optimizer=\". | HINT Write, for example, "
                    "loss='categorical_crossentropy', optimizer='Adam(lr=0.001)', "
                    "metrics=['accuracy']."});
}

// As keras.optimizers.serialize() writes them (Keras 3 and 2).
TEST(CompileParams, JsonWithSerializedObjects) {
  const CompileParams params = Parse(R"json({
    "optimizer": {"module": "keras.optimizers", "class_name": "Adam", "config": {
        "name": "adam", "learning_rate": 0.0010000000474974513, "weight_decay": null,
        "clipnorm": null, "global_clipnorm": null, "clipvalue": null, "use_ema": false,
        "ema_momentum": 0.99, "ema_overwrite_frequency": null, "loss_scale_factor": null,
        "gradient_accumulation_steps": null, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07,
        "amsgrad": false}, "registered_name": null},
    "loss": {"module": "keras.losses", "class_name": "CategoricalCrossentropy", "config": {
        "name": "categorical_crossentropy", "reduction": "sum_over_batch_size",
        "from_logits": false, "label_smoothing": 0.0, "axis": -1}, "registered_name": null},
    "loss_weights": null, "weighted_metrics": null, "run_eagerly": null,
    "metrics": ["accuracy", {"class_name": "TopKCategoricalAccuracy", "config": {"k": 3}}]})json");
  EXPECT_STREQ(params.optimizer.type->name, "Adam");
  EXPECT_EQ(params.optimizer.learning_rate, 0.0010000000474974513);
  EXPECT_EQ(params.loss, LossKind::kCategoricalCrossentropy);
  ASSERT_EQ(params.metrics.size(), 2u);
  EXPECT_EQ(params.metrics[1].type, FindMetric("top_k"));
  EXPECT_EQ(params.metrics[1].k, 3);
  EXPECT_EQ(
      Optimizer("{\"class_name\": \"SGD\", \"config\": {\"name\": \"SGD\", \"learning_rate\": "
                "0.01, \"decay\": 0.5, \"momentum\": 0.0, \"nesterov\": false}}")
          .decay,
      0.5);
}

TEST(CompileParams, WhatKerasWouldDoDifferentlyIsRefused) {
  EXPECT_EQ(OptimizerProblems("Adam(loss_scale_factor=2)"),
            Strings{"4 argument \"loss_scale_factor\" of optimizer \"Adam\" is not supported"});
  EXPECT_EQ(
      OptimizerProblems("Adam(gradient_accumulation_steps=2)"),
      Strings{"4 argument \"gradient_accumulation_steps\" of optimizer \"Adam\" is not supported"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=SparseCategoricalCrossentropy(ignore_class=1)"),
            Strings{"4 argument \"ignore_class\" of loss \"SparseCategoricalCrossentropy\" is not "
                    "supported | It is set to 1."});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[AUC(multi_label=True)]"),
            Strings{"4 argument \"multi_label\" of metric \"AUC\" is not supported | It is set "
                    "to True."});
}

TEST(CompileParams, Losses) {
  const std::vector<std::pair<const char*, LossKind>> losses = {
      {"'categorical_crossentropy'", LossKind::kCategoricalCrossentropy},
      {"CategoricalCrossentropy()", LossKind::kCategoricalCrossentropy},
      {"sparse_categorical_crossentropy", LossKind::kSparseCategoricalCrossentropy},
      {"'SparseCategoricalCrossentropy'", LossKind::kSparseCategoricalCrossentropy},
      {"'binary_crossentropy'", LossKind::kBinaryCrossentropy},
      {"'bce'", LossKind::kBinaryCrossentropy},
      {"'BinaryCrossentropy'", LossKind::kBinaryCrossentropy},
      {"'mean_squared_error'", LossKind::kMeanSquaredError},
      {"'mse'", LossKind::kMeanSquaredError},
      {"'MSE'", LossKind::kMeanSquaredError},
      {"'MeanSquaredError'", LossKind::kMeanSquaredError},
      {"keras.losses.mean_absolute_error", LossKind::kMeanAbsoluteError},
      {"'mae'", LossKind::kMeanAbsoluteError},
      {"'MeanAbsoluteError'", LossKind::kMeanAbsoluteError},
      {"'mape'", LossKind::kMeanAbsolutePercentageError},
      {"'MAPE'", LossKind::kMeanAbsolutePercentageError},
      {"msle", LossKind::kMeanSquaredLogarithmicError},
      {"'MeanSquaredLogarithmicError'", LossKind::kMeanSquaredLogarithmicError},
      {"huber", LossKind::kHuber},
      {"'huber_loss'", LossKind::kHuber},
      {"'logcosh'", LossKind::kLogCosh},
      {"LogCosh()", LossKind::kLogCosh},
      {"'hinge'", LossKind::kHinge},
      {"SquaredHinge", LossKind::kSquaredHinge},
      {"'CategoricalHinge'", LossKind::kCategoricalHinge},
      {"'KLDivergence'", LossKind::kKlDivergence},
      {"'kullback_leibler_divergence'", LossKind::kKlDivergence},
      {"kld", LossKind::kKlDivergence},
      {"'Poisson'", LossKind::kPoisson},
      {"'cosine_proximity'", LossKind::kCosineSimilarity},
      {"CosineSimilarity(axis=-1)", LossKind::kCosineSimilarity},
  };
  for (const auto& [text, kind] : losses) {
    EXPECT_EQ(Parse(std::string("optimizer=SGD, loss=") + text).loss, kind) << text;
  }
  EXPECT_EQ(Parse("optimizer=SGD, loss='bce'").loss_name, "bce");
  EXPECT_EQ(Parse("optimizer=SGD, loss='dice'").loss, LossKind::kDice);
  EXPECT_EQ(Parse("optimizer=SGD, loss=Tversky(alpha=0.3)").loss, LossKind::kTversky);
  EXPECT_EQ(Parse("optimizer=SGD, loss=CategoricalGeneralizedCrossEntropy()").loss,
            LossKind::kGeneralizedCrossentropy);
  EXPECT_EQ(Problems("optimizer=SGD, loss='circle'").at(0).substr(0, 33),
            "4 loss \"circle\" is not supported ");
  EXPECT_STREQ(LossName(LossKind::kPoisson), "poisson");
  EXPECT_STREQ(LossName(LossKind::kCosineSimilarity), "cosine_similarity");
  EXPECT_EQ(Problems("optimizer=SGD, loss='categorical_crosentropy'"),
            Strings{"1 loss \"categorical_crosentropy\" is not known | HINT Perhaps you meant "
                    "\"categorical_crossentropy\"."});
}

TEST(CompileParams, LossArguments) {
  const auto options = [](const std::string& loss) {
    return Parse("optimizer=SGD, loss=" + loss).loss_options;
  };
  EXPECT_EQ(options("'CategoricalCrossentropy(label_smoothing=0.1)'").label_smoothing, 0.1);
  EXPECT_TRUE(options("BinaryCrossentropy(from_logits=True)").from_logits);
  EXPECT_FALSE(options("BinaryCrossentropy(from_logits=False)").from_logits);
  EXPECT_EQ(options("Huber(delta=2)").delta, 2);
  EXPECT_EQ(options("Huber(2)").delta, 2);
  EXPECT_EQ(options("CategoricalFocalCrossentropy").alpha, 0.25);
  EXPECT_EQ(options("tversky").alpha, 0.5);
  EXPECT_EQ(options("Tversky(0.3, beta=0.9)").alpha, 0.3);
  EXPECT_EQ(options("Tversky(0.3, beta=0.9)").beta, 0.9);
  EXPECT_EQ(options("Dice(axis=(1, -1))").axes, (std::vector<int>{1, -1}));
  EXPECT_EQ(options("Dice(axis=1)").axes, (std::vector<int>{1}));
  EXPECT_TRUE(options("Dice(axis=None)").axes.empty());
  EXPECT_EQ(options("CategoricalGeneralizedCrossEntropy(q=0.7)").q, 0.7);
  EXPECT_EQ(Problems("optimizer=SGD, loss=Dice(axis=[])"),
            Strings{"1 axis of loss \"Dice\" must not be empty"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=Dice(axis='x')"),
            Strings{"1 axis of loss \"Dice\" must be an integer, got 'x'"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=Tversky(alpha=-1)"),
            Strings{"1 alpha of loss \"Tversky\" must not be negative, got -1"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=CategoricalGeneralizedCrossEntropy(q=1)"),
            Strings{"1 q of loss \"CategoricalGeneralizedCrossEntropy\" must be above 0 and below "
                    "1, got 1"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=Huber(1, delta=2)"),
            Strings{"1 loss \"Huber\" is given \"delta\" two times"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=Huber(1, 2)"),
            Strings{"1 loss \"Huber\" has 2 arguments without a name | HINT Its argument is "
                    "delta."});
  EXPECT_EQ(
      Problems("optimizer=SGD, loss=CategoricalCrossentropy(label_smoothing=1.5)"),
      Strings{"1 label_smoothing of loss \"CategoricalCrossentropy\" must be between 0 and 1, "
              "got 1.5"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=CategoricalCrossentropy(from_logits=1)"),
            Strings{"1 from_logits of loss \"CategoricalCrossentropy\" must be True or False, got "
                    "1"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=Huber(delta=0)"),
            Strings{"1 delta of loss \"Huber\" must be positive, got 0"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=Huber(detla=1)"),
            Strings{"1 loss \"Huber\" has no argument \"detla\" | HINT Its argument is delta."});
  EXPECT_EQ(Problems("optimizer=SGD, loss=SparseCategoricalCrossentropy(label_smoothing=0.1)"),
            Strings{"4 argument \"label_smoothing\" of loss \"SparseCategoricalCrossentropy\" is "
                    "not supported | It is set to 0.1."});
}

TEST(CompileParams, MetricArguments) {
  const auto metric = [](const std::string& text) {
    return Parse("optimizer=SGD, loss=mse, metrics=[" + text + "]").metrics.at(0);
  };
  EXPECT_EQ(metric("'AUC'").type, FindMetric("auc"));
  EXPECT_EQ(metric("AUC(curve='PR', num_thresholds=200)").curve, AucCurve::kPr);
  EXPECT_EQ(metric("'Precision(thresholds=[0.3])'").threshold, 0.3);
  EXPECT_EQ(metric("Recall(thresholds=0.4, top_k=None)").threshold, 0.4);
  EXPECT_FALSE(metric("precision").threshold);
  EXPECT_EQ(metric("'f1_score'").average, FAverage::kMacro);
  EXPECT_EQ(metric("F1Score(average='weighted', threshold=0.2)").threshold, 0.2);
  EXPECT_EQ(metric("huber").loss, LossKind::kHuber);
  EXPECT_EQ(metric("Huber(delta=3)").loss_options.delta, 3);
  EXPECT_EQ(metric("'BinaryCrossentropy(label_smoothing=0.1)'").loss_options.label_smoothing, 0.1);
  EXPECT_EQ(metric("'R2Score'").type, FindMetric("r2_score"));
  EXPECT_EQ(metric("R2Score(class_aggregation='variance_weighted_average')").aggregation,
            R2Aggregation::kVarianceWeighted);
  EXPECT_EQ(metric("R2Score(num_regressors=3)").num_regressors, 3);
  EXPECT_EQ(metric("FBetaScore(average='micro', beta=2.0)").type, FindMetric("f_beta_score"));
  EXPECT_EQ(metric("FBetaScore(average='micro', beta=2.0)").beta, 2.0);
  EXPECT_EQ(metric("FBetaScore(average='micro', beta=2.0)").average, FAverage::kMicro);
  EXPECT_EQ(metric("'fbeta_score'").beta, 1.0);
  EXPECT_EQ(metric("Precision(class_id=1)").class_id, 1);
  EXPECT_EQ(metric("Recall(0.4, 3)").top_k, 3);
  EXPECT_EQ(metric("AUC(50, summation_method='minoring')").num_thresholds, 50);
  EXPECT_EQ(metric("AUC(50, summation_method='minoring')").summation, AucSum::kMinoring);
  EXPECT_EQ(metric("BinaryAccuracy(threshold=0.4)").threshold, 0.4);
  EXPECT_EQ(metric("'IoU(num_classes=3, target_class_ids=[0, 2])'").class_ids,
            (std::vector<int>{0, 2}));
  EXPECT_EQ(metric("OneHotIoU(3, (1,))").class_ids, (std::vector<int>{1}));
  EXPECT_EQ(metric("BinaryIoU([1], threshold=0.3)").type, FindMetric("binary_io_u"));
  EXPECT_EQ(metric("MeanIoU(num_classes=3, ignore_class=0)").ignore_class, 0);
  EXPECT_EQ(metric("PrecisionAtRecall(0.8)").bound, 0.8);
  EXPECT_EQ(metric("RecallAtPrecision(precision=0.9, num_thresholds=10)").num_thresholds, 10);
  EXPECT_EQ(metric("SensitivityAtSpecificity(0.9, class_id=1)").class_id, 1);
  EXPECT_EQ(metric("'PearsonCorrelation'").type, FindMetric("pearson_correlation"));
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[PrecisionAtRecall]"),
            Strings{"1 metric \"PrecisionAtRecall\" needs the argument \"recall\""});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[SpecificityAtSensitivity(1.5)]"),
            Strings{"1 sensitivity of metric \"SpecificityAtSensitivity\" must be between 0 and 1, "
                    "got 1.5"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[IoU(num_classes=3)]"),
            Strings{"1 metric \"IoU\" needs the argument \"target_class_ids\""});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[BinaryIoU([2])]"),
            Strings{"1 target_class_ids of metric \"BinaryIoU\" must be an integer of at least 0, "
                    "got 2 | The largest possible value is 1."});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[AUC(num_thresholds=1)]"),
            Strings{"1 num_thresholds of metric \"AUC\" must be an integer of at least 2, got 1"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[F1Score(beta=2)]"),
            Strings{"1 metric \"F1Score\" has no argument \"beta\" | HINT Its arguments are "
                    "average, threshold."});
  EXPECT_EQ(metric("'rmse'").type, FindMetric("rmse"));
  EXPECT_EQ(metric("'cosine_similarity'").type, FindMetric("cosine_similarity"));
  EXPECT_EQ(metric("ce").type, FindMetric("crossentropy"));
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[Precision(thresholds=2)]"),
            Strings{"1 thresholds of metric \"Precision\" must be between 0 and 1, got 2"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[F1Score(average='mean')]"),
            Strings{"1 average of metric \"F1Score\" must be one of 'macro', 'micro', 'weighted', "
                    "got 'mean'"});
  EXPECT_EQ(Problems("optimizer=SGD, loss=mse, metrics=[AUC(kurve='PR')]"),
            Strings{"1 metric \"AUC\" has no argument \"kurve\" | HINT Its arguments are "
                    "num_thresholds, curve, summation_method, from_logits."});
}

TEST(CompileParams, Metrics) {
  const auto metrics = [](const std::string& text) {
    return Parse("optimizer=SGD, loss='mse', metrics=" + text).metrics;
  };
  EXPECT_TRUE(metrics("[]").empty());
  EXPECT_TRUE(metrics("None").empty());
  EXPECT_TRUE(Parse("optimizer=SGD, loss='mse'").metrics.empty());
  EXPECT_EQ(metrics("'accuracy'").size(), 1u);
  EXPECT_EQ(metrics("('accuracy', mae)").size(), 2u);
  const std::vector<std::tuple<const char*, const char*, int, const char*>> all = {
      {"'acc'", "accuracy", 5, "acc"},
      {"'binary_accuracy'", "binary_accuracy", 5, "binary_accuracy"},
      {"'CategoricalAccuracy'", "categorical_accuracy", 5, "CategoricalAccuracy"},
      {"'sparse_categorical_accuracy'", "sparse_categorical_accuracy", 5,
       "sparse_categorical_accuracy"},
      {"'top_k_categorical_accuracy'", "top_k", 5, "top_k_categorical_accuracy"},
      {"'sparse_top_k_categorical_accuracy'", "top_k", 5, "sparse_top_k_categorical_accuracy"},
      {"top_k(3)", "top_k", 3, "top_k(3)"},
      {"'top_k(k=2)'", "top_k", 2, "top_k(k=2)"},
      {"'top_4_accuracy'", "top_k", 4, "top_4_accuracy"},
      {"'mse'", "mse", 5, "mse"},
      {"'mean_squared_error'", "mse", 5, "mean_squared_error"},
      {"'mae'", "mae", 5, "mae"},
      {"MeanAbsoluteError", "mae", 5, "MeanAbsoluteError"},
  };
  for (const auto& [text, kind, k, name] : all) {
    const auto found = metrics("[" + std::string(text) + "]");
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].type, FindMetric(kind)) << text;
    EXPECT_EQ(found[0].k, k) << text;
    EXPECT_EQ(found[0].name, name) << text;
  }
  std::string many;
  for (int i = 1; i <= 32; ++i) many += "top_k(" + std::to_string(i) + "),";
  EXPECT_EQ(metrics("[" + many + "]").size(), 32u);
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', metrics=[" + many + "'mae']"),
            Strings{"5 metrics holds 33 metrics | At most 32 are possible."});
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', metrics=['Mean']").at(0).substr(0, 32),
            "4 metric \"Mean\" is not supported");
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', metrics=['acuracy']"),
            Strings{"1 metric \"acuracy\" is not known | HINT Perhaps you meant \"accuracy\"."});
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', metrics=[top_k(0)]"),
            Strings{"1 k of metric \"top_k\" must be a positive integer, got 0"});
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', metrics=[accuracy(3)]"),
            Strings{"1 metric \"accuracy\" takes no arguments"});
}

// A text of any length is refused in a few words.
TEST(CompileParams, LongExpressions) {
  const std::string brackets(100000, '(');
  EXPECT_EQ(Problems("optimizer=SGD, loss='expr: " + brackets + "'"),
            Strings{"5 loss expression has 100006 bytes | At most 255 are possible."});
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', metrics=['expr: p" + brackets + "']"),
            Strings{"5 metric expression has 100007 bytes | At most 255 are possible."});
}

TEST(CompileParams, WhatHasNoEffectIsSaid) {
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', loss_weights=None, weighted_metrics=None, "
                     "sample_weight_mode=None"),
            Strings{});
  EXPECT_EQ(Problems("optimizer=SGD, loss='mse', sample_weight_mode='temporal'").size(), 1u);
}

CompileParams Fitted(const std::string& text, const std::vector<std::string>& outputs,
                     Strings* problems) {
  std::vector<ParamProblem> found;
  CompileParams params = ParseCompileParams("optimizer=SGD, " + text, &found);
  if (found.empty()) FitToOutputs(outputs, true, &params, &found);
  problems->clear();
  for (const ParamProblem& problem : found) problems->push_back(problem.message);
  return params;
}

TEST(CompileParams, OfSeveralOutputsAreSaidAsInKeras) {
  Strings problems;
  const auto names = [](const CompileParams& params) {
    Strings list;
    for (const MetricParams& metric : params.metrics) {
      list.push_back(std::to_string(metric.part) + " " + metric.name);
    }
    return list;
  };
  // By name, in whatever order, by place, and one for all.
  CompileParams params = Fitted(
      "loss={'b': 'mae', 'a': 'mse'}, loss_weights={'b': 2}, metrics={'b': ['mse', 'mape']},"
      " weighted_metrics={'b': 'mse'}",
      {"a", "b"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(params.losses[0].loss, LossKind::kMeanSquaredError);
  EXPECT_EQ(params.losses[1].loss, LossKind::kMeanAbsoluteError);
  EXPECT_EQ(params.losses[0].weight, 1.0);
  EXPECT_EQ(params.losses[1].weight, 2.0);
  EXPECT_EQ(names(params),
            (Strings{"1 b_mse", "1 b_mape", "1 b_weighted_mse", "1 b_loss", "0 a_loss"}));
  params = Fitted("loss=['mse', 'mae'], loss_weights=[1, 0.5], metrics=['mae', ['mse', 'mape']]",
                  {"a", "b"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(params.losses[1].weight, 0.5);
  EXPECT_EQ(names(params), (Strings{"0 a_mae", "1 b_mse", "1 b_mape", "0 a_loss", "1 b_loss"}));
  params = Fitted("loss='mse'", {"a", "b"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(params.losses[1].loss, LossKind::kMeanSquaredError);
  params = Fitted("loss=['mse'], metrics={'a': 'mae'}, loss_weights=3", {"a"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(names(params), Strings{"0 mae"});
  EXPECT_EQ(params.losses[0].weight, 3.0);

  // Two of one name, wherever they stand: places are outputs where there are several.
  for (const char* text :
       {"loss='mse', metrics=['accuracy', 'mse'], weighted_metrics=['mse', 'accuracy']",
        "weighted_metrics=['mse', 'accuracy'], loss='mse', metrics=['accuracy', 'mse']"}) {
    params = Fitted(text, {"a"}, &problems);
    EXPECT_EQ(names(params),
              (Strings{"0 accuracy", "0 mse", "0 weighted_mse", "0 weighted_accuracy"}));
    params = Fitted(text, {"a", "b"}, &problems);
    EXPECT_EQ(names(params), (Strings{"0 a_accuracy", "1 b_mse", "0 a_mse", "1 b_accuracy",
                                      "0 a_loss", "1 b_loss"}));
    NameAsShown({"a_accuracy", "b_mse", "a_mse", "b_accuracy", "a_loss", "b_loss"},
                &(params = Parse("optimizer='sgd', " + std::string(text))));
    EXPECT_EQ(params.metrics[2].name, "a_mse");
    EXPECT_EQ(params.metrics[3].prefix, "b_");
    // As version 0.1 named them.
    NameAsShown({"accuracy", "mse", "mse", "accuracy"},
                &(params = Parse("optimizer='sgd', " + std::string(text))));
    EXPECT_EQ(params.metrics[2].name, "mse");
    NameAsShown({"accuracy", "mse", "weighted_mse", "weighted_accuracy"}, &params);
    EXPECT_EQ(params.metrics[2].name, "weighted_mse");
  }
  params = Fitted("loss='mse', metrics=['mae', 'mse'], weighted_metrics='mse'", {"a"}, &problems);
  EXPECT_EQ(names(params), (Strings{"0 mae", "0 mse", "0 weighted_mse"}));
  params = Fitted("loss='mse', metrics=[['mae'], ['mse']], weighted_metrics=[['mse'], ['mse']]",
                  {"a", "b"}, &problems);
  EXPECT_EQ(names(params),
            (Strings{"0 a_mae", "1 b_mse", "0 a_mse", "1 b_weighted_mse", "0 a_loss", "1 b_loss"}));

  const auto problem = [&](const std::string& text) {
    Fitted(text, {"price", "churn"}, &problems);
    return problems.empty() ? "" : problems[0];
  };
  EXPECT_EQ(problem("loss={'price': 'mse', 'chrn': 'mse'}"),
            "loss names output \"chrn\", which the model does not have");
  EXPECT_EQ(problem("loss={'price': 'mse'}"), "loss says nothing of output \"churn\"");
  EXPECT_EQ(problem("loss=['mse']"), "loss has 1 entry but the model has 2 outputs");
  EXPECT_EQ(problem("loss='mse', loss_weights=[1]"),
            "loss_weights has 1 entry but the model has 2 outputs");
  EXPECT_EQ(problem("loss='mse', metrics='mae'"),
            "metrics do not say which of 2 outputs they are of");
  EXPECT_EQ(problem("loss='mse', metrics={'prise': 'mae'}"),
            "metrics names output \"prise\", which the model does not have");
  EXPECT_EQ(problem("loss='mse', weighted_metrics={'price': 'auc'}"),
            "metric \"price_auc\" cannot be weighted");
}

// What other tools call things is answered with their names here, in every spelling.
TEST(OtherNames, AreAnsweredWithOurs) {
  const auto hint = [](const std::string& text) {
    std::vector<ParamProblem> problems;
    ParseCompileParams(text, &problems);
    return problems.size() == 1 ? problems[0].message + " | " + problems[0].hint : "";
  };
  const auto loss = [&](const std::string& name) {
    return hint("optimizer='sgd', loss='" + name + "'");
  };
  const auto metric = [&](const std::string& name) {
    return hint("optimizer='sgd', loss='mse', metrics=['" + name + "']");
  };
  const std::string either = "\"categorical_crossentropy\" or \"binary_crossentropy\".";
  for (const char* name : {"log_loss", "logloss", "LogLoss", "cross_entropy", "CrossEntropyLoss"}) {
    EXPECT_EQ(loss(name),
              "loss \"" + std::string(name) + "\" is not known | Perhaps you meant " + either);
  }
  EXPECT_EQ(loss("nll_loss"),
            "loss \"nll_loss\" is not known | Perhaps you meant \"categorical_crossentropy\".");
  EXPECT_EQ(loss("l1"), "loss \"l1\" is not known | Perhaps you meant \"mean_absolute_error\".");
  EXPECT_EQ(loss("l2"), "loss \"l2\" is not known | Perhaps you meant \"mean_squared_error\".");
  EXPECT_EQ(metric("roc_auc"), "metric \"roc_auc\" is not known | Perhaps you meant \"auc\".");
  EXPECT_EQ(metric("f1"), "metric \"f1\" is not known | Perhaps you meant \"f1_score\".");
  EXPECT_EQ(metric("log_loss"),
            "metric \"log_loss\" is not known | Perhaps you meant \"crossentropy\".");
  EXPECT_EQ(hint("optimizer='sgd', loss='mse', criterion='mse'"),
            "compile_params has no argument \"criterion\" | Perhaps you meant \"loss\".");
  EXPECT_EQ(hint("optimizer='sgd', loss='mse', lr=0.1"),
            "compile_params has no argument \"lr\" | It is the optimizer's: write "
            "optimizer='Adam(lr=...)'.");
  EXPECT_EQ(hint("optimizer='Adam(eps=1e-6)', loss='mse'"),
            "optimizer \"Adam\" has no argument \"eps\" | Perhaps you meant \"epsilon\".");
}

TEST(OtherNames, LeadToThingsThatAreThere) {
  for (const OtherName& other : OtherLossNames()) {
    EXPECT_FALSE(FindLoss(other.theirs)) << other.theirs;
    for (const std::string& ours : other.ours) {
      EXPECT_TRUE(FindLoss(SnakeCase(ours.substr(0, ours.find('('))))) << ours;
    }
  }
  for (const OtherName& other : OtherMetricNames()) {
    EXPECT_EQ(FindMetric(other.theirs), nullptr) << other.theirs;
    for (const std::string& ours : other.ours) {
      const std::string name = SnakeCase(ours.substr(0, ours.find('(')));
      EXPECT_TRUE(FindMetric(name) != nullptr || FindLoss(name)) << ours;
    }
  }
  for (const OtherName& other : OtherOptimizerArguments()) {
    for (const std::string& ours : other.ours) EXPECT_TRUE(IsOptimizerArgument(ours)) << ours;
  }
}

}  // namespace
}  // namespace hopper
