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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hopper {

enum class OptimizerKind { kSgd, kRmsprop, kAdam };

// Hyper-parameters under Keras' names and with Keras' defaults (keras.optimizers.*).
struct OptimizerParams {
  OptimizerKind kind = OptimizerKind::kRmsprop;
  double learning_rate = 0.001;
  double momentum = 0.0;  // SGD, RMSprop
  bool nesterov = false;  // SGD
  double rho = 0.9;       // RMSprop
  bool centered = false;  // RMSprop
  double beta_1 = 0.9;    // Adam
  double beta_2 = 0.999;  // Adam
  double epsilon = 1e-7;  // RMSprop, Adam
  bool amsgrad = false;   // Adam
  // Keras 2's time decay: learning_rate / (1 + decay * steps taken before).
  double decay = 0.0;
  std::optional<double> clipnorm;  // each gradient tensor on its own
  std::optional<double> clipvalue;
};

enum class LossKind {
  kCategoricalCrossentropy,
  kSparseCategoricalCrossentropy,
  kBinaryCrossentropy,
  kMeanSquaredError,
  kMeanAbsoluteError,
};

enum class MetricKind {
  kAccuracy,  // binary, categorical or sparse: resolved by output width and labels
  kBinaryAccuracy,
  kCategoricalAccuracy,
  kSparseCategoricalAccuracy,
  kTopK,  // categorical or sparse, by the labels
  kMeanSquaredError,
  kMeanAbsoluteError,
};

struct MetricParams {
  MetricKind kind = MetricKind::kAccuracy;
  int k = 5;         // kTopK
  std::string name;  // as the user wrote it; shown in metrics_type
};

struct CompileParams {
  OptimizerParams optimizer;
  LossKind loss = LossKind::kMeanSquaredError;
  std::string loss_name;  // as the user wrote it; shown in loss_type
  std::vector<MetricParams> metrics;
};

struct FitParams {
  int64_t batch_size = 32;
  int64_t epochs = 1;  // passes over the partition in one visit
  bool shuffle = true;
  // Factor of each example's loss by its class: keys are class indexes (3), or class labels
  // between single quotes ('cat', nothing escaped). Empty: all 1.
  std::map<std::string, double> class_weight;
  std::optional<uint64_t> seed;  // replaces the run's seed for this configuration
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
