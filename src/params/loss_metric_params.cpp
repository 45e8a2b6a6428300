#include "params/loss_metric_params.h"

#include <algorithm>
#include <limits>
#include <map>

namespace hopper {
namespace {

// Aliases included; class names arrive in snake case.
const std::map<std::string, LossKind> kLosses = {
    {"categorical_crossentropy", LossKind::kCategoricalCrossentropy},
    {"sparse_categorical_crossentropy", LossKind::kSparseCategoricalCrossentropy},
    {"binary_crossentropy", LossKind::kBinaryCrossentropy},
    {"bce", LossKind::kBinaryCrossentropy},
    {"mean_squared_error", LossKind::kMeanSquaredError},
    {"mse", LossKind::kMeanSquaredError},
    {"mean_absolute_error", LossKind::kMeanAbsoluteError},
    {"mae", LossKind::kMeanAbsoluteError},
};

const std::map<std::string, MetricKind> kMetrics = {
    {"accuracy", MetricKind::kAccuracy},
    {"acc", MetricKind::kAccuracy},
    {"binary_accuracy", MetricKind::kBinaryAccuracy},
    {"categorical_accuracy", MetricKind::kCategoricalAccuracy},
    {"sparse_categorical_accuracy", MetricKind::kSparseCategoricalAccuracy},
    {"top_k", MetricKind::kTopK},
    {"top_k_categorical_accuracy", MetricKind::kTopK},
    {"sparse_top_k_categorical_accuracy", MetricKind::kTopK},
    {"mean_squared_error", MetricKind::kMeanSquaredError},
    {"mse", MetricKind::kMeanSquaredError},
    {"mean_absolute_error", MetricKind::kMeanAbsoluteError},
    {"mae", MetricKind::kMeanAbsoluteError},
};

// Keras has them, this version does not.
const std::vector<std::string> kLackingLosses = {"mean_absolute_percentage_error",
                                                 "mape",
                                                 "mean_squared_logarithmic_error",
                                                 "msle",
                                                 "huber",
                                                 "huber_loss",
                                                 "log_cosh",
                                                 "logcosh",
                                                 "hinge",
                                                 "squared_hinge",
                                                 "categorical_hinge",
                                                 "kl_divergence",
                                                 "kld",
                                                 "kullback_leibler_divergence",
                                                 "poisson",
                                                 "cosine_similarity",
                                                 "cosine_proximity",
                                                 "binary_focal_crossentropy",
                                                 "categorical_focal_crossentropy",
                                                 "categorical_generalized_cross_entropy",
                                                 "dice",
                                                 "tversky",
                                                 "circle",
                                                 "ctc"};

const std::vector<std::string> kLackingMetrics = {"auc",
                                                  "precision",
                                                  "recall",
                                                  "f1_score",
                                                  "fbeta_score",
                                                  "f_beta_score",
                                                  "root_mean_squared_error",
                                                  "rmse",
                                                  "mean_io_u",
                                                  "binary_io_u",
                                                  "one_hot_io_u",
                                                  "one_hot_mean_io_u",
                                                  "io_u",
                                                  "r2_score",
                                                  "true_positives",
                                                  "true_negatives",
                                                  "false_positives",
                                                  "false_negatives",
                                                  "precision_at_recall",
                                                  "recall_at_precision",
                                                  "sensitivity_at_specificity",
                                                  "specificity_at_sensitivity",
                                                  "mean",
                                                  "sum",
                                                  "ce",
                                                  "crossentropy",
                                                  "log_cosh_error",
                                                  "pearson_correlation",
                                                  "concordance_correlation"};

template <typename Kind>
std::vector<std::string> NamesOf(const std::map<std::string, Kind>& table) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : table) names.push_back(name);
  return names;
}

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// 'loss "x" is not known', or not supported where Keras knows it.
void RefuseName(const std::string& role, const std::string& name, bool in_keras,
                const std::vector<std::string>& names, ProblemList* problems) {
  const std::string choice = "Use one of " + Join(names) + ".";
  if (in_keras) {
    problems->Error(ErrorCode::kNotSupported, role + " \"" + name + "\" is not supported", "",
                    choice);
    return;
  }
  const std::string hint = NearestNameHint(name, names);
  problems->Error(ErrorCode::kInvalidParameter, role + " \"" + name + "\" is not known", "",
                  hint.empty() ? choice : hint);
}

// Arguments that every loss and metric of Keras may be written with. `k`: where to put the k of
// top-k metrics, or null.
void ReadArguments(const Callable& callable, const std::string& owner, int* k,
                   ProblemList* problems) {
  const auto read_k = [&](const Value& value) {
    const auto n =
        ReadInteger(value, 1, std::numeric_limits<int>::max(), "k of " + owner, problems);
    if (n) *k = static_cast<int>(*n);
  };
  if (callable.positional.size() > (k != nullptr ? 1u : 0u)) {
    problems->Error(ErrorCode::kInvalidParameter, owner + " takes its arguments by name");
  } else if (!callable.positional.empty()) {
    read_k(callable.positional[0]);
  }
  for (const ValueEntry& entry : callable.named) {
    const std::string name = entry.key.IsText() ? entry.key.text : Render(entry.key);
    const Value& value = entry.value;
    if (name == "k" && k != nullptr) {
      read_k(value);
      continue;
    }
    bool neutral = name == "name" || name == "dtype" || name == "fn";
    if (name == "from_logits") neutral = value.kind == Value::Kind::kBool && !value.boolean;
    if (name == "label_smoothing") neutral = value.IsNumber() && value.real == 0;
    if (name == "threshold") neutral = value.IsNumber() && value.real == 0.5;
    if (name == "axis") neutral = value.kind == Value::Kind::kInteger && value.integer == -1;
    if (name == "ignore_class") neutral = value.IsNone();
    if (name == "reduction") {
      neutral = value.IsNone() ||
                (value.IsText() && (value.text == "sum_over_batch_size" || value.text == "auto"));
    }
    if (neutral) continue;
    static const std::vector<std::string> kKnown = {"from_logits", "label_smoothing", "threshold",
                                                    "axis",        "ignore_class",    "reduction"};
    if (Holds(kKnown, name)) {
      problems->Error(ErrorCode::kNotSupported,
                      "argument \"" + name + "\" of " + owner + " is not supported",
                      "It is set to " + Render(value) + ".");
    } else {
      problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + name + "\"", "",
                      k != nullptr ? "Its argument is k." : "");
    }
  }
}

// The k of "top_3_accuracy"; 0 for other names.
int64_t KOfName(const std::string& name) {
  const std::string before = "top_", after = "_accuracy";
  if (name.size() <= before.size() + after.size() || name.compare(0, before.size(), before) != 0 ||
      name.compare(name.size() - after.size(), after.size(), after) != 0) {
    return 0;
  }
  const std::string digits = name.substr(before.size(), name.size() - before.size() - after.size());
  if (digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) return 0;
  return std::stoll(digits);
}

void ReadMetric(const Value& value, CompileParams* params, ProblemList* problems) {
  const auto callable = ReadCallable(value, "metric", problems);
  if (!callable) return;
  const std::string name = SnakeCase(callable->name);
  MetricParams metric;
  metric.name = callable->text;
  const std::string owner = "metric \"" + callable->name + "\"";
  if (const int64_t k = KOfName(name); k > 0) {
    metric.kind = MetricKind::kTopK;
    metric.k = static_cast<int>(k);
    ReadArguments(*callable, owner, nullptr, problems);
  } else {
    const auto known = kMetrics.find(name);
    if (known == kMetrics.end()) {
      const bool in_keras =
          Holds(kLackingMetrics, name) || Holds(kLackingLosses, name) || kLosses.count(name) > 0;
      std::vector<std::string> names = NamesOf(kMetrics);
      RefuseName("metric", callable->name, in_keras, names, problems);
      return;
    }
    metric.kind = known->second;
    ReadArguments(*callable, owner, metric.kind == MetricKind::kTopK ? &metric.k : nullptr,
                  problems);
  }
  params->metrics.push_back(std::move(metric));
}

}  // namespace

void ReadLoss(const Value& value, CompileParams* params, ProblemList* problems) {
  if (value.IsSequence() ||
      (value.kind == Value::Kind::kDict && value.Find("class_name") == nullptr)) {
    problems->Error(ErrorCode::kNotSupported, "several losses are not supported",
                    "Models have one output.", "Name one loss, for example loss='mse'.");
    return;
  }
  const auto callable = ReadCallable(value, "loss", problems);
  if (!callable) return;
  const std::string name = SnakeCase(callable->name);
  const auto known = kLosses.find(name);
  if (known == kLosses.end()) {
    RefuseName("loss", callable->name, Holds(kLackingLosses, name), NamesOf(kLosses), problems);
    return;
  }
  params->loss = known->second;
  params->loss_name = callable->name;
  ReadArguments(*callable, "loss \"" + callable->name + "\"", nullptr, problems);
}

void ReadMetrics(const Value& value, CompileParams* params, ProblemList* problems) {
  if (value.IsNone()) return;
  if (!value.IsSequence()) {
    if (value.kind == Value::Kind::kDict && value.Find("class_name") == nullptr) {
      problems->Error(ErrorCode::kNotSupported, "metrics by output are not supported",
                      "Models have one output.", "Write a list, for example ['accuracy'].");
      return;
    }
    ReadMetric(value, params, problems);
    return;
  }
  if (value.items.size() > HOPPER_MAX_METRICS) {
    problems->Error(ErrorCode::kLimitExceeded,
                    "metrics holds " + std::to_string(value.items.size()) + " metrics",
                    "At most " + std::to_string(HOPPER_MAX_METRICS) + " are possible.");
    return;
  }
  for (const Value& item : value.items) ReadMetric(item, params, problems);
}

}  // namespace hopper
