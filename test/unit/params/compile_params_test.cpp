#include <gtest/gtest.h>

#include "optim/optimizer_type.h"
#include "params/callable.h"
#include "params/loss_names.h"
#include "params/metric_params.h"
#include "params/metric_type.h"
#include "params/problems.h"

namespace hopper {
namespace {

using Strings = std::vector<std::string>;

TEST(CompileParams, MadlibsExample) {
  const CompileParams params = ParsedCompileParams(
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

TEST(CompileParams, SeveralProblemsAreAllNamed) {
  EXPECT_EQ(
      CompileProblems("optimizer=SGD(lr=-1, momentum=2, foo=3), metrics=['nope'], optimiser=1"),
      (Strings{"1 learning rate must be positive, got -1",
               "1 momentum must be between 0 and 1, got 2",
               "1 optimizer \"SGD\" has no argument \"foo\" | HINT Its arguments are "
               "learning_rate, lr, decay, weight_decay, clipnorm, clipvalue, "
               "global_clipnorm, use_ema, ema_momentum, ema_overwrite_frequency, "
               "learning_rate_schedule, weight_decay_schedule, momentum, "
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
  EXPECT_EQ(CompileProblems(""), missing);
  EXPECT_EQ(CompileProblems("metrics=['accuracy']"), missing);
  EXPECT_EQ(CompileProblems("loss=None, optimizer=None"), missing);
  EXPECT_EQ(CompileProblems("{}"), missing);
}

TEST(CompileParams, SyntaxErrorsHaveCodePositionAndHint) {
  EXPECT_EQ(CompileProblems("loss='mse' optimizer='SGD'"),
            Strings{"2 compile_params cannot be parsed: expected \",\", not \"optimizer\" | "
                    "Position 12, near \"oss='mse' optimizer=\". | HINT Write, for example, "
                    "loss='categorical_crossentropy', optimizer='Adam(lr=0.001)', "
                    "metrics=['accuracy']."});
}

// As keras.optimizers.serialize() writes them (Keras 3 and 2).
TEST(CompileParams, JsonWithSerializedObjects) {
  const CompileParams params = ParsedCompileParams(R"json({
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
}

// Keras' names for what is done here anyway.
TEST(CompileParams, OtherWordsForTheSameAreRead) {
  for (const char* reduction : {"sum_over_batch_size", "mean", "auto"}) {
    EXPECT_EQ(CompileProblems("optimizer=SGD, loss=CategoricalCrossentropy(reduction='" +
                              std::string(reduction) + "')"),
              Strings{})
        << reduction;
  }
  for (const char* reduction : {"sum", "none", "mean_with_sample_weight"}) {
    EXPECT_EQ(CompileProblems("optimizer=SGD, loss=CategoricalCrossentropy(reduction='" +
                              std::string(reduction) + "')")
                  .size(),
              1U)
        << reduction;
  }
  const CompileParams params = ParsedCompileParams(
      "optimizer=SGD, loss=bce, metrics=[AUC(curve='pr', summation_method='Minoring')]");
  EXPECT_EQ(params.metrics[0].curve, AucCurve::kPr);
  EXPECT_EQ(params.metrics[0].summation, AucSum::kMinoring);
}

TEST(CompileParams, WhatKerasWouldDoDifferentlyIsRefused) {
  for (const char* optimizer : {"Adafactor", "MultiOptimizer", "Muon", "ScheduleFreeAdamW"}) {
    const Strings problems = CompileProblems(std::string("loss=mse, optimizer=") + optimizer);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].find("is not supported"), std::string::npos) << problems[0];
  }
  EXPECT_EQ(
      CompileProblems("optimizer=SGD, loss=mse, "
                      "metrics=[SparseCategoricalCrossentropy(ignore_class=1)]"),
      Strings{"4 argument \"ignore_class\" of metric \"SparseCategoricalCrossentropy\" is not "
              "supported | It is an argument of the loss, and of IoUs."});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[AUC(multi_label=True)]"),
            Strings{"4 argument \"multi_label\" of metric \"AUC\" is not supported | It is set "
                    "to True."});
}

TEST(CompileParams, Losses) {
  const std::vector<std::pair<const char*, std::string>> losses = {
      {"'categorical_crossentropy'", "categorical_crossentropy"},
      {"CategoricalCrossentropy()", "categorical_crossentropy"},
      {"sparse_categorical_crossentropy", "sparse_categorical_crossentropy"},
      {"'SparseCategoricalCrossentropy'", "sparse_categorical_crossentropy"},
      {"'binary_crossentropy'", "binary_crossentropy"},
      {"'bce'", "binary_crossentropy"},
      {"'BinaryCrossentropy'", "binary_crossentropy"},
      {"'mean_squared_error'", "mean_squared_error"},
      {"'mse'", "mean_squared_error"},
      {"'MSE'", "mean_squared_error"},
      {"'MeanSquaredError'", "mean_squared_error"},
      {"keras.losses.mean_absolute_error", "mean_absolute_error"},
      {"'mae'", "mean_absolute_error"},
      {"'MeanAbsoluteError'", "mean_absolute_error"},
      {"'mape'", "mean_absolute_percentage_error"},
      {"'MAPE'", "mean_absolute_percentage_error"},
      {"msle", "mean_squared_logarithmic_error"},
      {"'MeanSquaredLogarithmicError'", "mean_squared_logarithmic_error"},
      {"huber", "huber"},
      {"'huber_loss'", "huber"},
      {"'logcosh'", "log_cosh"},
      {"LogCosh()", "log_cosh"},
      {"'hinge'", "hinge"},
      {"SquaredHinge", "squared_hinge"},
      {"'CategoricalHinge'", "categorical_hinge"},
      {"'KLDivergence'", "kl_divergence"},
      {"'kullback_leibler_divergence'", "kl_divergence"},
      {"kld", "kl_divergence"},
      {"'Poisson'", "poisson"},
      {"'cosine_proximity'", "cosine_similarity"},
      {"CosineSimilarity(axis=-1)", "cosine_similarity"},
      {"'dice'", "dice"},
      {"Tversky(alpha=0.3)", "tversky"},
      {"CategoricalGeneralizedCrossEntropy()", "categorical_generalized_cross_entropy"},
  };
  for (const auto& [text, name] : losses) {
    const CompileParams params = ParsedCompileParams(std::string("optimizer=SGD, loss=") + text);
    EXPECT_EQ(LossName(params.loss), name) << text;
  }
  EXPECT_EQ(ParsedCompileParams("optimizer=SGD, loss='bce'").loss_name, "bce");
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='circle'").at(0).substr(0, 33),
            "4 loss \"circle\" is not supported ");
  EXPECT_STREQ(LossName(LossKind::kCosineSimilarity), "cosine_similarity");
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='categorical_crosentropy'"),
            Strings{"1 loss \"categorical_crosentropy\" is not known | HINT Perhaps you meant "
                    "\"categorical_crossentropy\"."});
}

TEST(CompileParams, LossArguments) {
  const auto options = [](const std::string& loss) {
    return ParsedCompileParams("optimizer=SGD, loss=" + loss).loss_options;
  };
  EXPECT_EQ(options("'CategoricalCrossentropy(label_smoothing=0.1)'").label_smoothing, 0.1);
  EXPECT_EQ(options("'SparseCategoricalCrossentropy(ignore_class=-1)'").ignore_class, -1);
  EXPECT_FALSE(options("'SparseCategoricalCrossentropy(ignore_class=None)'").ignore_class);
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
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Dice(axis=[])"),
            Strings{"1 axis of loss \"Dice\" must not be empty"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Dice(axis='x')"),
            Strings{"1 axis of loss \"Dice\" must be an integer, got 'x'"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Tversky(alpha=-1)"),
            Strings{"1 alpha of loss \"Tversky\" must not be negative, got -1"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=CategoricalGeneralizedCrossEntropy(q=1)"),
            Strings{"1 q of loss \"CategoricalGeneralizedCrossEntropy\" must be above 0 and below "
                    "1, got 1"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Huber(1, delta=2)"),
            Strings{"1 loss \"Huber\" is given \"delta\" two times"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Huber(1, 2)"),
            Strings{"1 loss \"Huber\" has 2 arguments without a name | HINT Its argument is "
                    "delta."});
  EXPECT_EQ(
      CompileProblems("optimizer=SGD, loss=CategoricalCrossentropy(label_smoothing=1.5)"),
      Strings{"1 label_smoothing of loss \"CategoricalCrossentropy\" must be between 0 and 1, "
              "got 1.5"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=CategoricalCrossentropy(from_logits=1)"),
            Strings{"1 from_logits of loss \"CategoricalCrossentropy\" must be True or False, got "
                    "1"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Huber(delta=0)"),
            Strings{"1 delta of loss \"Huber\" must be positive, got 0"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=Huber(detla=1)"),
            Strings{"1 loss \"Huber\" has no argument \"detla\" | HINT Its argument is delta."});
  EXPECT_EQ(
      CompileProblems("optimizer=SGD, loss=SparseCategoricalCrossentropy(label_smoothing=0.1)"),
      Strings{"4 argument \"label_smoothing\" of loss \"SparseCategoricalCrossentropy\" is "
              "not supported | It is set to 0.1."});
}

TEST(CompileParams, MetricArguments) {
  const auto metric = [](const std::string& text) {
    return ParsedCompileParams("optimizer=SGD, loss=mse, metrics=[" + text + "]").metrics.at(0);
  };
  EXPECT_EQ(metric("'AUC'").type, FindMetric("auc"));
  EXPECT_EQ(metric("AUC(curve='PR', num_thresholds=200)").curve, AucCurve::kPr);
  EXPECT_EQ(metric("'Precision(thresholds=[0.3])'").threshold, 0.3);
  EXPECT_EQ(metric("Recall(thresholds=0.4, top_k=None)").threshold, 0.4);
  EXPECT_FALSE(metric("precision").threshold);
  EXPECT_EQ(metric("'f1_score'").average, FAverage::kMacro);
  EXPECT_EQ(metric("F1Score(average='weighted', threshold=0.2)").threshold, 0.2);
  EXPECT_STREQ(LossName(metric("huber").loss), "huber");
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
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[PrecisionAtRecall]"),
            Strings{"1 metric \"PrecisionAtRecall\" needs the argument \"recall\""});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[SpecificityAtSensitivity(1.5)]"),
            Strings{"1 sensitivity of metric \"SpecificityAtSensitivity\" must be between 0 and 1, "
                    "got 1.5"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[IoU(num_classes=3)]"),
            Strings{"1 metric \"IoU\" needs the argument \"target_class_ids\""});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[BinaryIoU([2])]"),
            Strings{"1 target_class_ids of metric \"BinaryIoU\" must be an integer of at least 0, "
                    "got 2 | The largest possible value is 1."});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[AUC(num_thresholds=1)]"),
            Strings{"1 num_thresholds of metric \"AUC\" must be an integer of at least 2, got 1"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[F1Score(beta=2)]"),
            Strings{"1 metric \"F1Score\" has no argument \"beta\" | HINT Its arguments are "
                    "average, threshold."});
  EXPECT_EQ(metric("'rmse'").type, FindMetric("rmse"));
  EXPECT_EQ(metric("'cosine_similarity'").type, FindMetric("cosine_similarity"));
  EXPECT_EQ(metric("ce").type, FindMetric("crossentropy"));
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[Precision(thresholds=2)]"),
            Strings{"1 thresholds of metric \"Precision\" must be between 0 and 1, got 2"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[F1Score(average='mean')]"),
            Strings{"1 average of metric \"F1Score\" must be one of 'macro', 'micro', 'weighted', "
                    "got 'mean'"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss=mse, metrics=[AUC(kurve='PR')]"),
            Strings{"1 metric \"AUC\" has no argument \"kurve\" | HINT Its arguments are "
                    "num_thresholds, curve, summation_method, from_logits."});
}

TEST(CompileParams, Metrics) {
  const auto metrics = [](const std::string& text) {
    return ParsedCompileParams("optimizer=SGD, loss='mse', metrics=" + text).metrics;
  };
  EXPECT_TRUE(metrics("[]").empty());
  EXPECT_TRUE(metrics("None").empty());
  EXPECT_TRUE(ParsedCompileParams("optimizer=SGD, loss='mse'").metrics.empty());
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
      {"'rmse'", "rmse", 5, "rmse"},
      {"MeanAbsoluteError", "", 5, "MeanAbsoluteError"},
  };
  for (const auto& [text, kind, k, name] : all) {
    const auto found = metrics("[" + std::string(text) + "]");
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].type, *kind == 0 ? &LossMetric() : FindMetric(kind)) << text;
    EXPECT_EQ(found[0].k, k) << text;
    EXPECT_EQ(found[0].name, name) << text;
  }
  std::string many;
  for (int i = 1; i <= 32; ++i) many += "top_k(" + std::to_string(i) + "),";
  EXPECT_EQ(metrics("[" + many + "]").size(), 32u);
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', metrics=[" + many + "'mae']"),
            Strings{"5 metrics holds 33 metrics | At most 32 are possible."});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', metrics=['Mean']").at(0).substr(0, 32),
            "4 metric \"Mean\" is not supported");
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', metrics=['acuracy']"),
            Strings{"1 metric \"acuracy\" is not known | HINT Perhaps you meant \"accuracy\"."});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', metrics=[top_k(0)]"),
            Strings{"1 k of metric \"top_k\" must be a positive integer, got 0"});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', metrics=[accuracy(3)]"),
            Strings{"1 metric \"accuracy\" takes no arguments"});
}

// A text of any length is refused in a few words.
TEST(CompileParams, LongExpressions) {
  const std::string brackets(100000, '(');
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='expr: " + brackets + "'"),
            Strings{"5 loss expression has 100006 bytes | At most 255 are possible."});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', metrics=['expr: p" + brackets + "']"),
            Strings{"5 metric expression has 100007 bytes | At most 255 are possible."});
}

TEST(CompileParams, WhatHasNoEffectIsSaid) {
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', loss_weights=None, weighted_metrics=None, "
                            "sample_weight_mode=None"),
            Strings{});
  EXPECT_EQ(CompileProblems("optimizer=SGD, loss='mse', sample_weight_mode='temporal'").size(), 1u);
}

}  // namespace
}  // namespace hopper
