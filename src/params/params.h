// compile_params and fit_params: the text of one configuration as typed values.
//
// Two syntaxes are accepted for each: MADlib's keyword arguments,
//   loss='categorical_crossentropy', optimizer='Adam(lr=0.01)', metrics=['accuracy']
// and a JSON object,
//   {"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1}}}.
// Parsing never throws for bad input: it appends problems (with the position in the text) and
// goes on. Problems with `warning` set do not stop training.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hopper {

class Expression;

enum class OptimizerKind {
  kSgd,
  kRmsprop,
  kAdam,
  kAdamW,
  kAdagrad,
  kAdadelta,
  kAdamax,
  kNadam,
  kFtrl,
  kLion,
};

enum class ScheduleKind {
  kConstant,
  kExponentialDecay,
  kCosineDecay,
  kPiecewiseConstantDecay,
  kInverseTimeDecay,
  kPolynomialDecay,
};

// keras.optimizers.schedules.*, under Keras' names; the initial rate is the optimizer's
// learning_rate. Steps are batches, counted over the whole training.
struct ScheduleParams {
  ScheduleKind kind = ScheduleKind::kConstant;
  double decay_steps = 1.0;
  double decay_rate = 0.0;              // exponential, inverse time
  bool staircase = false;               // exponential, inverse time
  double alpha = 0.0;                   // cosine: the last rate as a share of the first
  std::optional<double> warmup_target;  // cosine
  double warmup_steps = 0.0;            // cosine
  double end_learning_rate = 1e-4;      // polynomial
  double power = 1.0;                   // polynomial
  bool cycle = false;                   // polynomial
  std::vector<double> boundaries;       // piecewise: values[i] up to and with boundaries[i]
  std::vector<double> values;           // piecewise: one more than boundaries
};

// Hyper-parameters under Keras' names and with Keras' defaults (keras.optimizers.*), which
// DefaultOptimizer() fills in where they are not the same for all.
struct OptimizerParams {
  OptimizerKind kind = OptimizerKind::kRmsprop;
  double learning_rate = 0.001;
  ScheduleParams schedule;
  double momentum = 0.0;                              // SGD, RMSprop
  bool nesterov = false;                              // SGD
  double rho = 0.9;                                   // RMSprop, Adadelta
  bool centered = false;                              // RMSprop
  double beta_1 = 0.9;                                // Adam, AdamW, Adamax, Nadam, Lion
  double beta_2 = 0.999;                              // Adam, AdamW, Adamax, Nadam, Lion
  double epsilon = 1e-7;                              // all but SGD, Ftrl and Lion
  bool amsgrad = false;                               // Adam, AdamW
  double initial_accumulator_value = 0.1;             // Adagrad, Ftrl
  double learning_rate_power = -0.5;                  // Ftrl
  double l1_regularization_strength = 0.0;            // Ftrl
  double l2_regularization_strength = 0.0;            // Ftrl
  double l2_shrinkage_regularization_strength = 0.0;  // Ftrl
  double beta = 0.0;                                  // Ftrl
  // Keras 2's time decay: learning_rate / (1 + decay * steps taken before).
  double decay = 0.0;
  // Decoupled: every step first takes weight_decay * learning rate of each weight away.
  double weight_decay = 0.0;
  std::optional<double> clipnorm;         // each gradient tensor on its own
  std::optional<double> global_clipnorm;  // all gradients together
  std::optional<double> clipvalue;
  // A moving average of the weights, which is what evaluation and the result use.
  bool use_ema = false;
  double ema_momentum = 0.99;
  int64_t ema_overwrite_frequency = 0;  // steps between overwriting the weights; 0: never
};

// An optimizer with Keras' defaults.
OptimizerParams DefaultOptimizer(OptimizerKind kind);

enum class LossKind {
  kCategoricalCrossentropy,
  kSparseCategoricalCrossentropy,
  kBinaryCrossentropy,
  kMeanSquaredError,
  kMeanAbsoluteError,
  kMeanAbsolutePercentageError,
  kMeanSquaredLogarithmicError,
  kHuber,
  kLogCosh,
  kHinge,
  kSquaredHinge,
  kCategoricalHinge,
  kKlDivergence,
  kPoisson,
  kCosineSimilarity,
  kBinaryFocalCrossentropy,
  kCategoricalFocalCrossentropy,
  kDice,
  kTversky,
  kGeneralizedCrossentropy,
  kExpression,  // LossOptions::expression
};

// "categorical_crossentropy": Keras' name without abbreviation.
const char* LossName(LossKind loss);

// Arguments of losses, under Keras' names.
struct LossOptions {
  bool from_logits = false;      // crossentropies
  double label_smoothing = 0.0;  // crossentropies but the sparse one
  double delta = 1.0;            // Huber
  double alpha = 0.25;           // focal crossentropies; Tversky: weight of what is missed
  double gamma = 2.0;            // focal crossentropies
  bool class_balancing = false;  // binary focal crossentropy: alpha weighs the classes
  double beta = 0.5;             // Tversky: weight of what is too much
  double q = 0.5;                // generalized crossentropy
  // Dice, Tversky: the axes that are summed over, counted as in Keras with the batch as 0, from
  // the end where negative. Empty: all, so that a batch has one value.
  std::vector<int> axes;
  std::shared_ptr<const Expression> expression;
};

enum class FAverage { kMacro, kMicro, kWeighted };
enum class AucCurve { kRoc, kPr };
enum class AucSum { kInterpolation, kMinoring, kMajoring };
enum class R2Aggregation { kUniform, kVarianceWeighted };

enum class MetricKind {
  kAccuracy,  // binary, categorical or sparse: resolved by output width and labels
  kBinaryAccuracy,
  kCategoricalAccuracy,
  kSparseCategoricalAccuracy,
  kTopK,  // categorical or sparse, by the labels
  kMeanSquaredError,
  kMeanAbsoluteError,
  kRootMeanSquaredError,
  kCosineSimilarity,  // without the loss's minus
  kCrossentropy,      // binary, categorical or sparse, as kAccuracy
  kLoss,              // the value of `loss`
  kTruePositives,
  kTrueNegatives,
  kFalsePositives,
  kFalseNegatives,
  kPrecision,
  kRecall,
  kFBetaScore,
  kAuc,
  kR2Score,
  kIoU,
  kBinaryIoU,  // of outputs on their own, above and below `threshold`
  // The largest value of the one at thresholds where the other is at least `bound`.
  kPrecisionAtRecall,
  kRecallAtPrecision,
  kSensitivityAtSpecificity,
  kSpecificityAtSensitivity,
  kPearsonCorrelation,
  kConcordanceCorrelation,
  kConfusionMatrix,  // for evaluate(): its sums, counts by label and prediction, are its value
};

struct MetricParams {
  MetricKind kind = MetricKind::kAccuracy;
  int k = 5;                                    // kTopK
  LossKind loss = LossKind::kMeanSquaredError;  // kLoss
  LossOptions loss_options;                     // kLoss, kCrossentropy
  bool ascends = false;                         // kLoss of an expression: larger is better
  // Confusion counts, kBinaryAccuracy and kBinaryIoU: 0.5 where it is not given. kFBetaScore
  // without it takes the largest output of several, and 0.5 with a single one.
  std::optional<double> threshold;
  std::optional<int> top_k;     // kPrecision, kRecall: only the k largest outputs count as positive
  std::optional<int> class_id;  // kPrecision, kRecall, k...At...: this output only
  FAverage average = FAverage::kMacro;
  double beta = 1.0;  // kFBetaScore
  AucCurve curve = AucCurve::kRoc;
  AucSum summation = AucSum::kInterpolation;
  int num_thresholds = 200;         // kAuc, k...At...
  double bound = 0.0;               // k...At...
  std::vector<int> class_ids;       // kIoU, kBinaryIoU: the classes of the mean; empty: all
  std::optional<int> ignore_class;  // kIoU: examples of this class do not count
  R2Aggregation aggregation = R2Aggregation::kUniform;
  int num_regressors = 0;  // kR2Score: above 0 adjusts
  std::string name;        // as the user wrote it; shown in metrics_type
  std::string label;       // of an expression, for what watches it; may be empty
};

struct CompileParams {
  OptimizerParams optimizer;
  LossKind loss = LossKind::kMeanSquaredError;
  LossOptions loss_options;
  std::string loss_name;  // as the user wrote it; shown in loss_type
  std::vector<MetricParams> metrics;
};

enum class MonitorMode { kAuto, kMin, kMax };

// keras.callbacks.EarlyStopping, with an iteration as the epoch.
struct EarlyStoppingParams {
  std::optional<int64_t> patience;  // nothing: never stops
  bool restore_best = false;        // the result is the best iteration's weights
  std::string monitor = "val_loss";
  MonitorMode mode = MonitorMode::kAuto;
  double min_delta = 0.0;
  std::optional<double> baseline;
  int64_t start_from_epoch = 0;

  bool active() const { return patience.has_value() || restore_best; }
};

// keras.callbacks.ReduceLROnPlateau, with an iteration as the epoch.
struct PlateauParams {
  bool active = false;
  std::string monitor = "val_loss";
  MonitorMode mode = MonitorMode::kAuto;
  double factor = 0.1;
  int64_t patience = 10;
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0.0;
};

struct FitParams {
  int64_t batch_size = 32;
  int64_t epochs = 1;  // passes over the partition in one visit
  bool shuffle = true;
  // Factor of each example's loss by its class: keys are class indexes (3), or class labels
  // between single quotes ('cat', nothing escaped). Empty: all 1.
  std::map<std::string, double> class_weight;
  std::optional<uint64_t> seed;  // replaces the run's seed for this configuration
  EarlyStoppingParams early_stopping;
  PlateauParams plateau;
};

struct ParamProblem : Problem {
  bool warning = false;
};

CompileParams ParseCompileParams(std::string_view text, std::vector<ParamProblem>* problems);
FitParams ParseFitParams(std::string_view text, std::vector<ParamProblem>* problems);

// The text with blanks and the order of keys taken out, for comparing configurations as MADlib
// does. Text that does not parse stands for itself.
std::string CanonicalParams(std::string_view text);

}  // namespace hopper
