#include <gtest/gtest.h>

#include "params/problems.h"

namespace hopper {
namespace {

using Strings = std::vector<std::string>;

Strings Problems(const std::string& text) {
  std::vector<ParamProblem> problems;
  ParseFitParams(text, &problems);
  return Describe(problems);
}

FitParams Parse(const std::string& text) {
  std::vector<ParamProblem> problems;
  FitParams params = ParseFitParams(text, &problems);
  EXPECT_EQ(Describe(problems), Strings{}) << text;
  return params;
}

TEST(FitParams, NothingMeansTheDefaults) {
  for (const char* text :
       {"", " \n", "{}", "batch_size=None, epochs=None, shuffle=None, seed=None"}) {
    const FitParams params = Parse(text);
    EXPECT_EQ(params.batch_size, 32) << text;
    EXPECT_EQ(params.epochs, 1) << text;
    EXPECT_TRUE(params.shuffle) << text;
    EXPECT_TRUE(params.class_weight.empty()) << text;
    EXPECT_FALSE(params.seed) << text;
  }
}

TEST(FitParams, Everything) {
  const FitParams params = Parse(
      "batch_size=5, epochs=3, shuffle=False, class_weight={0: 1.0, 1: 2.5, 'cat': 3}, seed=42, "
      "verbose=0");
  EXPECT_EQ(params.batch_size, 5);
  EXPECT_EQ(params.epochs, 3);
  EXPECT_FALSE(params.shuffle);
  EXPECT_EQ(params.class_weight,
            (std::map<std::string, double>{{"0", 1.0}, {"1", 2.5}, {"'cat'", 3.0}}));
  EXPECT_EQ(params.seed, 42u);
}

TEST(FitParams, Json) {
  const FitParams params = Parse("{\"batch_size\": 64, \"shuffle\": true, \"seed\": null}");
  EXPECT_EQ(params.batch_size, 64);
  EXPECT_TRUE(params.shuffle);
}

TEST(FitParams, WholeNumbersMayLookLikeFloats) {
  EXPECT_EQ(Parse("batch_size=32.0").batch_size, 32);
}

TEST(FitParams, Messages) {
  EXPECT_EQ(Problems("batch_size=0"), Strings{"1 batch_size must be a positive integer, got 0"});
  EXPECT_EQ(Problems("batch_size=-5"), Strings{"1 batch_size must be a positive integer, got -5"});
  EXPECT_EQ(Problems("batch_size=32.5"),
            Strings{"1 batch_size must be a positive integer, got 32.5"});
  EXPECT_EQ(Problems("batch_size='32'"), Strings{"1 batch_size must be an integer, got '32'"});
  EXPECT_EQ(Problems("batch_size=10000000000"),
            Strings{"1 batch_size must be a positive integer, got 10000000000 | The largest "
                    "possible value is 2147483647."});
  EXPECT_EQ(Problems("batch_size=1e300"),
            Strings{"1 batch_size must be a positive integer, got 1e+300 | The largest possible "
                    "value is 2147483647."});
  EXPECT_EQ(Problems("epochs=0"), Strings{"1 epochs must be a positive integer, got 0"});
  EXPECT_EQ(Problems("epochs=True"), Strings{"1 epochs must be an integer, got True"});
  EXPECT_EQ(Problems("shuffle=1"), Strings{"1 shuffle must be True or False, got 1"});
  EXPECT_EQ(Problems("seed=-1"), Strings{"1 seed must be an integer of at least 0, got -1"});
  EXPECT_EQ(Problems("class_weight=[1, 2]"),
            Strings{"1 class_weight must be a dictionary or 'balanced', got [1,2] | HINT Write "
                    "class_weight={0: 1.0, 1: 2.5}, for example, or 'balanced', which gives rare "
                    "classes more weight."});
  EXPECT_EQ(Problems("class_weight='balanced'"), Strings{});
  EXPECT_EQ(Problems("class_weight={0: 0, 1: 1}"), Strings{});  // leaves a class out
  EXPECT_EQ(Problems("class_weight={'a': -1}"),
            Strings{"1 class_weight of 'a' must not be negative, got -1"});
  EXPECT_EQ(
      Problems("class_weight={-1: 1}"),
      Strings{"1 class_weight has the key -1 | Keys are class indexes from 0, or class labels "
              "in quotes."});
  EXPECT_EQ(Problems("batchsize=3"),
            Strings{"1 fit_params has no argument \"batchsize\" | HINT Perhaps you meant "
                    "\"batch_size\"."});
  EXPECT_EQ(
      Problems("foo=3"),
      Strings{"1 fit_params has no argument \"foo\" | HINT Its arguments are batch_size, "
              "epochs, shuffle, class_weight, seed, patience, restore_best, monitor, mode, "
              "min_delta, baseline, start_from_epoch, reduce_lr_on_plateau and dropout_schedule."});
  EXPECT_EQ(
      Problems("lr=0.1"),
      Strings{"1 fit_params has no argument \"lr\" | HINT It is the optimizer's, and belongs to "
              "the compile parameters."});
  EXPECT_EQ(Problems("metrics=['mae']"),
            Strings{"1 fit_params has no argument \"metrics\" | HINT It belongs to the compile "
                    "parameters."});
  EXPECT_EQ(Problems("batch_size=3 epochs=2"),
            Strings{"2 fit_params cannot be parsed: expected \",\", not \"epochs\" | Position 14, "
                    "near \"ch_size=3 epochs=2\". | HINT Write, for example, batch_size=32, "
                    "epochs=1."});
  EXPECT_EQ(Problems("batch_size=0, epochs=0").size(), 2u);
}

TEST(FitParams, WhatCannotBeHonouredIsSaid) {
  EXPECT_EQ(Problems("initial_epoch=0, callbacks=None, callbacks2=None"),
            Strings{"1 fit_params has no argument \"callbacks2\" | HINT Perhaps you meant "
                    "\"callbacks\"."});
  for (const char* quiet :
       {"initial_epoch=0", "initial_epoch=None", "steps_per_epoch=None", "callbacks=[]",
        "validation_split=0.0", "validation_data=None", "validation_freq=1", "verbose=2",
        "verbose='auto'", "sample_weight=None", "use_multiprocessing=False"}) {
    EXPECT_EQ(Problems(quiet), Strings{}) << quiet;
  }
  for (const char* text : {"callbacks=[TensorBoard(log_dir=\"/tmp/x\")]",
                           "callbacks='[TensorBoard(log_dir=\"/tmp/x\")]'"}) {
    EXPECT_EQ(Problems(text),
              Strings{"warning 1 callback \"TensorBoard\" has no effect | Callbacks are Python "
                      "code; metrics of every iteration are in <output>_info. | HINT "
                      "EarlyStopping and ReduceLROnPlateau are honoured."});
  }
  for (const char* key :
       {"initial_epoch=3", "steps_per_epoch=10", "validation_split=0.1", "validation_data=(x, y)",
        "validation_steps=5", "validation_freq=2", "sample_weight=[1, 2]", "workers=4"}) {
    const Strings problems = Problems(key);
    ASSERT_EQ(problems.size(), 1u) << key;
    const std::string name = std::string(key).substr(0, std::string(key).find('='));
    EXPECT_EQ(problems[0].rfind("warning 1 fit parameter \"" + name + "\" has no effect", 0), 0u)
        << problems[0];
  }
  EXPECT_EQ(Problems("validation_freq=2"),
            Strings{"warning 1 fit parameter \"validation_freq\" has no effect | All models of a "
                    "run are validated at the same iterations. | HINT Pass validation_freq => 2 to "
                    "the function that trains."});
  EXPECT_EQ(Problems("sample_weight=[1, 2]"),
            Strings{"warning 1 fit parameter \"sample_weight\" has no effect | Weights of "
                    "examples are a column of the source table. | HINT Name it in weight_varname "
                    "when packing, or weigh classes by class_weight."});
  EXPECT_EQ(Problems("shuffle='batch'"),
            Strings{"warning 1 shuffle 'batch' shuffles single examples | Whole batches are never "
                    "shuffled as units. | HINT Use True or False."});
  EXPECT_TRUE(Problems("shuffle=True").empty());
}

FitParams Parsed(const std::string& text) {
  std::vector<ParamProblem> problems;
  FitParams fit = ParseFitParams(text, &problems);
  EXPECT_TRUE(problems.empty()) << text << ": " << problems.front().message;
  return fit;
}

TEST(FitParams, EarlyStopping) {
  EXPECT_FALSE(Parsed("batch_size=8").early_stopping.active());
  EXPECT_FALSE(Parsed("patience=None, restore_best=False").early_stopping.active());
  for (const char* text :
       {"patience=3, min_delta=0.5, monitor='loss', mode='max', baseline=-1, start_from_epoch=2, "
        "restore_best=True",
        "callbacks=[EarlyStopping(patience=3, min_delta=0.5, monitor='loss', mode='max', "
        "baseline=-1, start_from_epoch=2, restore_best_weights=True, verbose=1)]",
        "{\"patience\": 3, \"min_delta\": 0.5, \"monitor\": \"loss\", \"mode\": \"max\", "
        "\"baseline\": -1, \"start_from_epoch\": 2, \"restore_best_weights\": true}"}) {
    const EarlyStoppingParams early = Parsed(text).early_stopping;
    EXPECT_EQ(early.patience, 3) << text;
    EXPECT_EQ(early.min_delta, 0.5);
    EXPECT_EQ(early.monitor, "loss");
    EXPECT_EQ(early.mode, MonitorMode::kMax);
    EXPECT_EQ(early.baseline, -1.0);
    EXPECT_EQ(early.start_from_epoch, 2);
    EXPECT_TRUE(early.restore_best);
  }
  EXPECT_EQ(Parsed("callbacks=[EarlyStopping()]").early_stopping.patience, 0);
  EXPECT_FALSE(Parsed("restore_best=True").early_stopping.patience.has_value());
  EXPECT_EQ(Problems("patience=-1, min_delta=nan, mode='up', monitor=3, baseline=None"),
            (Strings{"1 patience must be an integer of at least 0, got -1",
                     "1 min_delta must be a number, got nan",
                     "1 mode must be one of 'auto', 'min', 'max', got 'up'",
                     "1 monitor must be the name of a loss or metric, got 3 | HINT Use "
                     "monitor='val_loss' or monitor='val_accuracy', for example."}));
  EXPECT_EQ(Problems("min_delta=0.1"),
            Strings{"warning 1 fit parameter \"min_delta\" has no effect | Neither patience nor "
                    "restore_best is given. | HINT Add patience=3, for example."});
  EXPECT_EQ(Problems("patiense=3"),
            Strings{"1 fit_params has no argument \"patiense\" | HINT Perhaps you meant "
                    "\"patience\"."});
  EXPECT_EQ(Problems("callbacks=[EarlyStopping(patient=3)]"),
            Strings{"1 callback \"EarlyStopping\" has no argument \"patient\" | HINT Perhaps you "
                    "meant \"patience\"."});
}

TEST(FitParams, ReduceLrOnPlateau) {
  EXPECT_FALSE(Parsed("reduce_lr_on_plateau=None").plateau.active);
  EXPECT_FALSE(Parsed("reduce_lr_on_plateau=False").plateau.active);
  const PlateauParams defaults = Parsed("reduce_lr_on_plateau=True").plateau;
  EXPECT_TRUE(defaults.active);
  EXPECT_EQ(defaults.factor, 0.1);
  EXPECT_EQ(defaults.patience, 10);
  EXPECT_EQ(defaults.min_delta, 1e-4);
  EXPECT_EQ(defaults.monitor, "val_loss");
  for (const char* text :
       {"reduce_lr_on_plateau={'factor': 0.5, 'patience': 2, 'min_delta': 0, 'cooldown': 4, "
        "'min_lr': 1e-5, 'monitor': 'loss', 'mode': 'min'}",
        "reduce_lr_on_plateau=ReduceLROnPlateau(factor=0.5, patience=2, min_delta=0, cooldown=4, "
        "min_lr=1e-5, monitor='loss', mode='min')",
        "callbacks=[ReduceLROnPlateau(factor=0.5, patience=2, min_delta=0, cooldown=4, "
        "min_lr=1e-5, monitor='loss', mode='min')]"}) {
    const PlateauParams plateau = Parsed(text).plateau;
    EXPECT_TRUE(plateau.active) << text;
    EXPECT_EQ(plateau.factor, 0.5);
    EXPECT_EQ(plateau.patience, 2);
    EXPECT_EQ(plateau.min_delta, 0.0);
    EXPECT_EQ(plateau.cooldown, 4);
    EXPECT_EQ(plateau.min_lr, 1e-5);
    EXPECT_EQ(plateau.monitor, "loss");
    EXPECT_EQ(plateau.mode, MonitorMode::kMin);
  }
  // What early stopping watches, unless it has its own.
  EXPECT_EQ(Parsed("patience=3, monitor='loss', reduce_lr_on_plateau={}").plateau.monitor, "loss");
  EXPECT_EQ(
      Parsed("callbacks=[EarlyStopping(monitor='loss'), ReduceLROnPlateau()]").plateau.monitor,
      "val_loss");
  EXPECT_EQ(
      Problems("reduce_lr_on_plateau={'factor': 1, 'cooldwn': 1, 'patience': 1.5}"),
      (Strings{"1 factor of reduce_lr_on_plateau must be above 0 and below 1, got 1",
               "1 reduce_lr_on_plateau has no argument \"cooldwn\" | HINT Perhaps you meant "
               "\"cooldown\".",
               "1 patience of reduce_lr_on_plateau must be an integer of at least 0, got 1.5"}));
  EXPECT_EQ(Problems("reduce_lr_on_plateau=3"),
            Strings{"1 reduce_lr_on_plateau must be a name, got 3"});
}

// Keras calls all of them; here the last one would silently replace the others.
TEST(FitParams, SeveralCallbacksOfAClassAreRefused) {
  for (const char* text :
       {"callbacks=[EarlyStopping(patience=3), EarlyStopping(monitor='loss', patience=9)]",
        "patience=3, callbacks=[EarlyStopping(monitor='loss')]",
        "callbacks=EarlyStopping(), restore_best=True",
        "callbacks=[ReduceLROnPlateau(), ReduceLROnPlateau(monitor='loss')]",
        "reduce_lr_on_plateau={'factor': 0.5}, callbacks=[ReduceLROnPlateau()]"}) {
    const Strings problems = Problems(text);
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_NE(problems[0].find(" is given more than once | A configuration has one of each"),
              std::string::npos)
        << problems[0];
  }
  EXPECT_EQ(Problems("callbacks=[EarlyStopping(patience=3), ReduceLROnPlateau()], patience=None, "
                     "reduce_lr_on_plateau=None"),
            Strings{});
}

TEST(CanonicalParams, BlanksQuotesAndOrderDoNotCount) {
  const std::string canonical =
      CanonicalParams("loss='mse',optimizer='Adam(lr=0.01,decay=1e-6)',metrics=['mae']");
  for (const char* text :
       {"metrics = [ 'mae' ], optimizer = 'Adam( decay=1e-6, lr = 0.01 )', loss = 'mse'",
        "optimizer=Adam(decay=0.000001,lr=0.010),metrics=[mae],loss=mse,",
        "{'loss': 'mse', 'optimizer': \"Adam(lr=0.01,decay=1e-6)\", 'metrics': ['mae']}"}) {
    EXPECT_EQ(CanonicalParams(text), canonical) << text;
  }
  EXPECT_EQ(CanonicalParams("epochs=1, batch_size=5"), CanonicalParams("batch_size=5,epochs=1"));
  EXPECT_EQ(CanonicalParams("optimizer='Adam()'"), CanonicalParams("optimizer=Adam"));
  EXPECT_EQ(CanonicalParams(""), "");
  EXPECT_EQ(CanonicalParams(" "), "");
}

TEST(CanonicalParams, WhatDiffersStaysDifferent) {
  EXPECT_NE(CanonicalParams("optimizer='Adam(lr=0.01)'"),
            CanonicalParams("optimizer='Adam(lr=0.1)'"));
  EXPECT_NE(CanonicalParams("metrics=['mae','mse']"), CanonicalParams("metrics=['mse','mae']"));
  EXPECT_NE(CanonicalParams("class_weight={1: 2}"), CanonicalParams("class_weight={'1': 2}"));
  EXPECT_NE(CanonicalParams("class_weight={'a b': 2}"), CanonicalParams("class_weight={'ab': 2}"));
  EXPECT_EQ(CanonicalParams("does not parse ("), "does not parse (");
}

// sklearn.utils.class_weight.compute_class_weight('balanced', ...) of labels with so many rows.
TEST(FitParams, BalancedClassesAreWrittenOut) {
  EXPECT_EQ(BalanceClasses("batch_size=16, class_weight='balanced'", {1, 3}),
            "batch_size=16,class_weight={0:2.0,1:0.6666666666666666}");
  EXPECT_EQ(BalanceClasses("class_weight=balanced", {20, 0, 60, 120}),
            "class_weight={0:3.3333333333333335,2:1.1111111111111112,3:0.5555555555555556}");
  EXPECT_EQ(BalanceClasses("{\"class_weight\": \"balanced\"}", {2}), "class_weight={0:1.0}");
  EXPECT_EQ(BalanceClasses("batch_size=16", {1, 3}), std::nullopt);
  EXPECT_EQ(BalanceClasses("class_weight={'balanced': 2}", {1, 3}), std::nullopt);
  EXPECT_EQ(BalanceClasses("", {1, 3}), std::nullopt);
}

}  // namespace
}  // namespace hopper
