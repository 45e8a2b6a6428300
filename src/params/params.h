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
#include "optim/configuration.h"

namespace hopper {

class Expression;

// A place in the table of losses, loss/rows/table.h. Names have only those that other code asks
// for; loss/rows/table.cpp compares them with the table.
enum class LossKind {
  kCategoricalCrossentropy = 0,
  kSparseCategoricalCrossentropy = 1,
  kBinaryCrossentropy = 2,
  kMeanSquaredError = 3,
  kMeanAbsoluteError = 4,
  kCosineSimilarity = 14,
  kExpression = 20,  // LossOptions::expression
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
  std::optional<int> ignore_class;  // sparse crossentropy: labels of this class do not count
  std::shared_ptr<const Expression> expression;
};

enum class FAverage { kMacro, kMicro, kWeighted };
enum class AucCurve { kRoc, kPr };
enum class AucSum { kInterpolation, kMinoring, kMajoring };
enum class R2Aggregation { kUniform, kVarianceWeighted };

struct MetricType;

struct MetricParams {
  const MetricType* type = nullptr;             // a row of the table of metrics
  int k = 5;                                    // top_k
  LossKind loss = LossKind::kMeanSquaredError;  // LossMetric(); of others it stays so
  LossOptions loss_options;                     // LossMetric(), crossentropy
  bool ascends = false;                         // an expression: larger is better
  // Of outputs: 0.5 where it is not given. FBetaScore without it takes the largest output of
  // several, and 0.5 with a single one.
  std::optional<double> threshold;
  std::optional<int> top_k;     // precision, recall: only the k largest outputs count as positive
  std::optional<int> class_id;  // precision, recall, ..._at_...: this output only
  FAverage average = FAverage::kMacro;
  double beta = 1.0;  // FBetaScore
  AucCurve curve = AucCurve::kRoc;
  AucSum summation = AucSum::kInterpolation;
  int num_thresholds = 200;         // auc, ..._at_...
  double bound = 0.0;               // ..._at_...
  std::vector<int> class_ids;       // of IoUs: the classes of the mean; empty: all
  std::optional<int> ignore_class;  // of IoUs: examples of this class do not count
  R2Aggregation aggregation = R2Aggregation::kUniform;
  int num_regressors = 0;  // R2Score: above 0 adjusts
  // Shown in metrics_type: the name that its arguments give it, else as the user wrote it; of
  // several of one name, Keras' numbers are behind it from the second on (auc_1).
  std::string name;
  std::string own;      // without what is before it and behind it
  std::string written;  // with a name of its own: its text without that argument
  std::string label;    // as monitor has it, without `prefix`; of an expression it may be empty
  // Of one output among several: its name, or its place where a list says it. FitToOutputs() finds
  // its number among the model's, and sets what the name begins with.
  std::string output;
  int place = -1;
  int part = 0;
  bool of_all = false;  // it stands in a list that names no outputs and has no lists
  std::string prefix;
  bool of_loss = false;   // the loss of an output, as it is trained
  bool weighted = false;  // weighted_metrics: examples count by their weights
  bool apart = false;     // it has "weighted_" before its own name, which another one has
  bool by_row = false;    // it counts rows of an output that has a mask, not examples: CountRows()
};

// The loss of one output among several.
struct OutputLoss {
  std::string output;  // empty where a list says it by its place
  LossKind loss = LossKind::kMeanSquaredError;
  LossOptions options;
  std::string name;  // as the user wrote it
  double weight = 1.0;
};

// A factor of an output's loss.
struct LossWeight {
  std::string output;  // as above
  double weight = 1.0;
};

struct CompileParams {
  OptimizerParams optimizer;
  LossKind loss = LossKind::kMeanSquaredError;
  LossOptions loss_options;
  std::string loss_name;  // as the user wrote it; shown in loss_type
  // Where they are said by output. After FitToOutputs() one for each output, in the model's order.
  std::vector<OutputLoss> losses;
  std::vector<LossWeight> loss_weights;
  bool losses_by_name = false;
  bool weights_by_name = false;
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
  // class_weight='balanced': BalanceClasses() has to write it out before anything is trained.
  bool balanced_classes = false;
  // Factor of each example's loss by its class: keys are class indexes (3), or class labels
  // between single quotes ('cat', nothing escaped). Empty: all 1.
  std::map<std::string, double> class_weight;
  std::optional<uint64_t> seed;  // replaces the run's seed for this configuration
  EarlyStoppingParams early_stopping;
  PlateauParams plateau;
  // What all dropout rates are multiplied with, step by step, from 1 on.
  ScheduleParams dropout_schedule;

  bool has_dropout_schedule() const { return dropout_schedule.kind != ScheduleKind::kConstant; }
};

struct ParamProblem : Problem {
  bool warning = false;
};

CompileParams ParseCompileParams(std::string_view text, std::vector<ParamProblem>* problems);
FitParams ParseFitParams(std::string_view text, std::vector<ParamProblem>* problems);

// Says of which of the model's outputs (at least one, in its order) each loss, weight and metric
// is, and adds the losses of several to the metrics. False with problems where they do not go
// together. `weighted`: examples have weights.
bool FitToOutputs(const std::vector<std::string>& outputs, bool weighted, CompileParams* params,
                  std::vector<ParamProblem>* problems);
// Gives metrics whose text does not name the output the names that results have for them, and adds
// the losses of several outputs. `shown`: what FitToOutputs() has made of the same text, perhaps
// cut to HOPPER_MAX_NAME.
void NameAsShown(const std::vector<std::string>& shown, CompileParams* params);

// The text with class_weight='balanced' written out for data with so many rows of each
// class, in their order, as scikit-learn's compute_class_weight() does: rows / (classes * rows of
// the class), where classes are those that have rows. Nothing where they do not say 'balanced'.
std::optional<std::string> BalanceClasses(std::string_view text,
                                          const std::vector<int64_t>& class_counts);

// The text with blanks and the order of keys taken out, for comparing configurations as MADlib
// does. Text that does not parse stands for itself.
std::string CanonicalParams(std::string_view text);

}  // namespace hopper
