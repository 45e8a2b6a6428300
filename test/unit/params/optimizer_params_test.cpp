#include "params/optimizer_params.h"

#include <gtest/gtest.h>

#include "optim/optimizer_type.h"
#include "params/problems.h"

namespace hopper {
namespace {

using Strings = std::vector<std::string>;

const std::string kRest = ", loss='mse', metrics=['mae']";

OptimizerParams Optimizer(const std::string& text) {
  return ParsedCompileParams("optimizer=" + text + kRest).optimizer;
}

Strings OptimizerProblems(const std::string& text) {
  return CompileProblems("optimizer=" + text + kRest);
}

TEST(OptimizerParams, EverySpellingOfAnOptimizerIsTheSame) {
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
TEST(OptimizerParams, Defaults) {
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

TEST(OptimizerParams, OptimizerArguments) {
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
TEST(OptimizerParams, FalseIsFalse) {
  EXPECT_FALSE(Optimizer("'SGD(lr=0.1, nesterov=False)'").Own("nesterov"));
  EXPECT_FALSE(Optimizer("'Adam(amsgrad=False)'").Own("amsgrad"));
}

TEST(OptimizerParams, NoneIsTheDefault) {
  EXPECT_EQ(Optimizer("'Adam(epsilon=None)'").Own("epsilon"), 1e-7);
  EXPECT_FALSE(Optimizer("Adam(clipnorm=None)").clipnorm);
}

TEST(OptimizerParams, OptimizerMessages) {
  std::vector<std::string> names;
  for (const OptimizerType& type : OptimizerTypes()) names.emplace_back(type.name);
  const std::string choice = "Use one of " + Join(names) + ".";
  EXPECT_EQ(OptimizerProblems("'Adam(lr_rate=0.1)'"),
            Strings{"1 optimizer \"Adam\" has no argument \"lr_rate\" | HINT Perhaps you meant "
                    "\"learning_rate\"."});
  EXPECT_EQ(OptimizerProblems("'adam(momentum=0.1)'"),
            Strings{"1 optimizer \"Adam\" has no argument \"momentum\" | HINT Its arguments are "
                    "learning_rate, lr, decay, weight_decay, clipnorm, clipvalue, "
                    "global_clipnorm, use_ema, ema_momentum, ema_overwrite_frequency, "
                    "learning_rate_schedule, weight_decay_schedule, beta_1, "
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

TEST(OptimizerParams, Schedules) {
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
  // Beside the value that they begin with, which a search may then choose by itself.
  const OptimizerParams beside = Optimizer(
      "Adam(lr=0.04, learning_rate_schedule=CosineLogDecay(decay_iterations=9, cycles=2), "
      "weight_decay=0.02, weight_decay_schedule='FlatCosineDecay(decay_steps=90, flat=0.4)')");
  EXPECT_EQ(beside.learning_rate, 0.04);
  EXPECT_EQ(beside.schedule.kind, ScheduleKind::kCosineLog);
  EXPECT_EQ(beside.schedule.decay_iterations, 9);
  EXPECT_EQ(beside.schedule.cycles, 2);
  EXPECT_EQ(beside.weight_decay, 0.02);
  EXPECT_EQ(beside.weight_decay_schedule.kind, ScheduleKind::kFlatCosine);
  EXPECT_EQ(beside.weight_decay_schedule.decay_steps, 90);
  EXPECT_EQ(beside.weight_decay_schedule.flat, 0.4);
  const OptimizerParams inside = Optimizer("SGD(0.1, weight_decay=CosineDecay(0.02, 100))");
  EXPECT_EQ(inside.weight_decay, 0.02);
  EXPECT_EQ(inside.weight_decay_schedule.kind, ScheduleKind::kCosineDecay);
}

TEST(OptimizerParams, ScheduleMessages) {
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
  EXPECT_EQ(OptimizerProblems("SGD(lr=FlatCosineDecay(0.1))"),
            Strings{"1 learning rate schedule \"FlatCosineDecay\" needs one of decay_steps and "
                    "decay_iterations | HINT Give the number of iterations that the run has: "
                    "decay_iterations=10."});
  EXPECT_EQ(OptimizerProblems("SGD(0.1, weight_decay_schedule=CosineDecay(0.1, decay_steps=4))"),
            Strings{"1 weight decay schedule \"CosineDecay\" is given \"decay_steps\" two times"});
  EXPECT_EQ(OptimizerProblems("SGD(CosineDecay(0.1, 4), learning_rate_schedule="
                              "CosineDecay(decay_steps=4))"),
            Strings{"1 optimizer \"SGD\" is given two schedules of its learning rate"});
  EXPECT_EQ(OptimizerProblems("SGD(lr=ExponentDecay(0.1, 10, 0.5))"),
            Strings{"1 learning rate schedule \"ExponentDecay\" is not known | HINT Perhaps you "
                    "meant \"ExponentialDecay\"."});
  EXPECT_EQ(OptimizerProblems("SGD(lr=CosineDecayRestarts(0.1, 10))"),
            Strings{"4 learning rate schedule \"CosineDecayRestarts\" is not supported | HINT Use "
                    "one of ExponentialDecay, CosineDecay, PiecewiseConstantDecay, "
                    "InverseTimeDecay, PolynomialDecay, CosineLogDecay, FlatCosineDecay."});
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

TEST(OptimizerParams, AsKerasSerializesThem) {
  EXPECT_EQ(
      Optimizer("{\"class_name\": \"SGD\", \"config\": {\"name\": \"SGD\", \"learning_rate\": "
                "0.01, \"decay\": 0.5, \"momentum\": 0.0, \"nesterov\": false}}")
          .decay,
      0.5);
}

TEST(OptimizerParams, WhatKerasWouldDoDifferentlyIsRefused) {
  EXPECT_EQ(OptimizerProblems("Adam(loss_scale_factor=2)"),
            Strings{"4 argument \"loss_scale_factor\" of optimizer \"Adam\" is not supported"});
  EXPECT_EQ(
      OptimizerProblems("Adam(gradient_accumulation_steps=2)"),
      Strings{"4 argument \"gradient_accumulation_steps\" of optimizer \"Adam\" is not supported"});
}

}  // namespace
}  // namespace hopper
