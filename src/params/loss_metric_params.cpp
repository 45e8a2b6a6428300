#include "params/loss_metric_params.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "params/expression.h"

namespace hopper {
namespace {

struct LossEntry {
  LossKind kind;
  const char* name;
  std::vector<std::string> aliases;
};

// In the order of LossKind. Class names arrive in snake case.
const std::vector<LossEntry>& Losses() {
  static const std::vector<LossEntry> losses = {
      {LossKind::kCategoricalCrossentropy, "categorical_crossentropy", {}},
      {LossKind::kSparseCategoricalCrossentropy, "sparse_categorical_crossentropy", {}},
      {LossKind::kBinaryCrossentropy, "binary_crossentropy", {"bce"}},
      {LossKind::kMeanSquaredError, "mean_squared_error", {"mse"}},
      {LossKind::kMeanAbsoluteError, "mean_absolute_error", {"mae"}},
      {LossKind::kMeanAbsolutePercentageError, "mean_absolute_percentage_error", {"mape"}},
      {LossKind::kMeanSquaredLogarithmicError, "mean_squared_logarithmic_error", {"msle"}},
      {LossKind::kHuber, "huber", {"huber_loss"}},
      {LossKind::kLogCosh, "log_cosh", {"logcosh", "log_cosh_error"}},
      {LossKind::kHinge, "hinge", {}},
      {LossKind::kSquaredHinge, "squared_hinge", {}},
      {LossKind::kCategoricalHinge, "categorical_hinge", {}},
      {LossKind::kKlDivergence, "kl_divergence", {"kld", "kullback_leibler_divergence"}},
      {LossKind::kPoisson, "poisson", {}},
      {LossKind::kCosineSimilarity, "cosine_similarity", {"cosine_proximity"}},
      {LossKind::kBinaryFocalCrossentropy, "binary_focal_crossentropy", {}},
      {LossKind::kCategoricalFocalCrossentropy, "categorical_focal_crossentropy", {}},
  };
  return losses;
}

const LossEntry* FindLoss(const std::string& name) {
  for (const LossEntry& loss : Losses()) {
    const auto& aliases = loss.aliases;
    if (name == loss.name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
      return &loss;
    }
  }
  return nullptr;
}

// Metrics that are no losses, or have a kind of their own.
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
    {"root_mean_squared_error", MetricKind::kRootMeanSquaredError},
    {"rmse", MetricKind::kRootMeanSquaredError},
    {"cosine_similarity", MetricKind::kCosineSimilarity},
    {"cosine_proximity", MetricKind::kCosineSimilarity},
    {"crossentropy", MetricKind::kCrossentropy},
    {"ce", MetricKind::kCrossentropy},
    {"true_positives", MetricKind::kTruePositives},
    {"true_negatives", MetricKind::kTrueNegatives},
    {"false_positives", MetricKind::kFalsePositives},
    {"false_negatives", MetricKind::kFalseNegatives},
    {"precision", MetricKind::kPrecision},
    {"recall", MetricKind::kRecall},
    {"f1_score", MetricKind::kF1Score},
    {"auc", MetricKind::kAuc},
    {"r2_score", MetricKind::kR2Score},
    {"mean_io_u", MetricKind::kMeanIoU},
    {"one_hot_mean_io_u", MetricKind::kMeanIoU},
};

// Keras has them, this version does not.
const std::vector<std::string> kLackingLosses = {"categorical_generalized_cross_entropy", "dice",
                                                 "tversky", "circle", "ctc"};

const std::vector<std::string> kLackingMetrics = {"fbeta_score",
                                                  "f_beta_score",
                                                  "binary_io_u",
                                                  "one_hot_io_u",
                                                  "io_u",
                                                  "precision_at_recall",
                                                  "recall_at_precision",
                                                  "sensitivity_at_specificity",
                                                  "specificity_at_sensitivity",
                                                  "mean",
                                                  "sum",
                                                  "pearson_correlation",
                                                  "concordance_correlation"};

std::vector<std::string> LossNames(bool with_aliases) {
  std::vector<std::string> names;
  for (const LossEntry& loss : Losses()) {
    names.push_back(loss.name);
    if (with_aliases) names.insert(names.end(), loss.aliases.begin(), loss.aliases.end());
  }
  return names;
}

// Every metric has one name in `with_aliases` false, for lists that people read.
std::vector<std::string> MetricNames(bool with_aliases) {
  static const std::vector<std::string> kShort = {"acc", "ce", "cosine_proximity",
                                                  "one_hot_mean_io_u", "rmse"};
  std::vector<std::string> names;
  for (const auto& [name, kind] : kMetrics) {
    const bool alias =
        std::find(kShort.begin(), kShort.end(), name) != kShort.end() || FindLoss(name) != nullptr;
    if (with_aliases || !alias) names.push_back(name);
  }
  for (const std::string& name : LossNames(with_aliases)) names.push_back(name);
  return names;
}

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// 'loss "x" is not known', or not supported where Keras knows it.
void RefuseName(const std::string& role, const std::string& name, bool in_keras,
                const std::vector<std::string>& names, const std::vector<std::string>& choice,
                ProblemList* problems) {
  const std::string use = "Use one of " + Join(choice) + ".";
  if (in_keras) {
    problems->Error(ErrorCode::kNotSupported, role + " \"" + name + "\" is not supported", "", use);
    return;
  }
  const std::string hint = NearestNameHint(name, names);
  problems->Error(ErrorCode::kInvalidParameter, role + " \"" + name + "\" is not known", "",
                  hint.empty() ? use : hint);
}

// Where to put the arguments that a loss or metric takes; null: it does not take them.
struct Accepted {
  int* k = nullptr;
  bool* from_logits = nullptr;
  double* label_smoothing = nullptr;
  double* delta = nullptr;
  double* alpha = nullptr;
  double* gamma = nullptr;
  bool* class_balancing = nullptr;
  bool classes = false;  // num_classes and what goes with it
  std::optional<double>* threshold = nullptr;
  const char* threshold_name = "thresholds";
  F1Average* average = nullptr;
  AucCurve* curve = nullptr;

  std::string Names() const {
    std::vector<std::string> names;
    if (k != nullptr) names.push_back("k");
    if (from_logits != nullptr) names.push_back("from_logits");
    if (label_smoothing != nullptr) names.push_back("label_smoothing");
    if (delta != nullptr) names.push_back("delta");
    if (alpha != nullptr) names.push_back("alpha");
    if (gamma != nullptr) names.push_back("gamma");
    if (class_balancing != nullptr) names.push_back("apply_class_balancing");
    if (classes) names.push_back("num_classes");
    if (threshold != nullptr) names.push_back(threshold_name);
    if (average != nullptr) names.push_back("average");
    if (curve != nullptr) names.push_back("curve");
    if (names.empty()) return "";
    return (names.size() == 1 ? "Its argument is " : "Its arguments are ") + Join(names) + ".";
  }
};

void AcceptLossArguments(LossKind loss, LossOptions* options, Accepted* accepted) {
  const bool categorical = loss == LossKind::kCategoricalCrossentropy;
  const bool sparse = loss == LossKind::kSparseCategoricalCrossentropy;
  const bool binary = loss == LossKind::kBinaryCrossentropy;
  const bool binary_focal = loss == LossKind::kBinaryFocalCrossentropy;
  const bool focal = binary_focal || loss == LossKind::kCategoricalFocalCrossentropy;
  if (categorical || sparse || binary || focal) accepted->from_logits = &options->from_logits;
  if (categorical || binary || focal) accepted->label_smoothing = &options->label_smoothing;
  if (focal) {
    accepted->alpha = &options->alpha;
    accepted->gamma = &options->gamma;
  }
  if (binary_focal) accepted->class_balancing = &options->class_balancing;
  if (loss == LossKind::kHuber) accepted->delta = &options->delta;
}

template <typename T>
void ReadWord(const Value& value, const std::vector<std::pair<std::string, T>>& words,
              const std::string& label, T* out, ProblemList* problems) {
  std::vector<std::string> names;
  for (const auto& [word, meaning] : words) {
    if (value.IsText() && value.text == word) {
      *out = meaning;
      return;
    }
    names.push_back("'" + word + "'");
  }
  problems->Error(ErrorCode::kInvalidParameter,
                  label + " must be one of " + Join(names) + ", got " + Render(value));
}

// A number, or a list of one.
void ReadThreshold(const Value& value, const std::string& label, std::optional<double>* out,
                   ProblemList* problems) {
  const bool list = value.IsSequence() && value.items.size() == 1;
  if (const auto x = ReadNumber(list ? value.items[0] : value, kUnit, label, problems)) *out = x;
}

// True where a value is what Keras has without the argument.
bool IsNeutral(const std::string& name, const Value& value) {
  if (name == "name" || name == "dtype" || name == "fn") return true;
  if (value.IsNone()) return true;
  const bool is_false = value.kind == Value::Kind::kBool && !value.boolean;
  if (name == "from_logits" || name == "multi_label") return is_false;
  if (name == "label_smoothing" || name == "num_regressors") {
    return value.IsNumber() && value.real == 0;
  }
  if (name == "threshold") return value.IsNumber() && value.real == 0.5;
  if (name == "beta") return value.IsNumber() && value.real == 1;
  if (name == "num_thresholds") return value.IsNumber() && value.real == 200;
  if (name == "axis") return value.kind == Value::Kind::kInteger && value.integer == -1;
  if (name == "summation_method") return value.IsText() && value.text == "interpolation";
  if (name == "class_aggregation") return value.IsText() && value.text == "uniform_average";
  if (name == "reduction") {
    return value.IsText() && (value.text == "sum_over_batch_size" || value.text == "auto");
  }
  return false;
}

// Reads the arguments that are accepted, and refuses others unless they change nothing.
void ReadArguments(const Callable& callable, const std::string& owner, const Accepted& accepted,
                   ProblemList* problems) {
  const auto read_k = [&](const Value& value) {
    const auto n =
        ReadInteger(value, 1, std::numeric_limits<int>::max(), "k of " + owner, problems);
    if (n) *accepted.k = static_cast<int>(*n);
  };
  if (callable.positional.size() > (accepted.k != nullptr ? 1u : 0u)) {
    problems->Error(ErrorCode::kInvalidParameter, owner + " takes its arguments by name");
  } else if (!callable.positional.empty()) {
    read_k(callable.positional[0]);
  }
  for (const ValueEntry& entry : callable.named) {
    const std::string name = entry.key.IsText() ? entry.key.text : Render(entry.key);
    const Value& value = entry.value;
    const std::string label = name + " of " + owner;
    if (name == "k" && accepted.k != nullptr) {
      read_k(value);
    } else if (value.IsNone() && name != "k") {
      // As in Keras: None is the default.
    } else if (name == "from_logits" && accepted.from_logits != nullptr) {
      if (const auto b = ReadBool(value, label, problems)) *accepted.from_logits = *b;
    } else if (name == "label_smoothing" && accepted.label_smoothing != nullptr) {
      if (const auto x = ReadNumber(value, kUnit, label, problems)) *accepted.label_smoothing = *x;
    } else if (name == "delta" && accepted.delta != nullptr) {
      if (const auto x = ReadNumber(value, kPositive, label, problems)) *accepted.delta = *x;
    } else if (name == "alpha" && accepted.alpha != nullptr) {
      if (const auto x = ReadNumber(value, kUnit, label, problems)) *accepted.alpha = *x;
    } else if (name == "gamma" && accepted.gamma != nullptr) {
      if (const auto x = ReadNumber(value, kNotNegative, label, problems)) *accepted.gamma = *x;
    } else if (name == "apply_class_balancing" && accepted.class_balancing != nullptr) {
      if (const auto b = ReadBool(value, label, problems)) *accepted.class_balancing = *b;
    } else if (name == "num_classes" && accepted.classes) {
      ReadInteger(value, 2, std::numeric_limits<int>::max(), label, problems);
    } else if ((name == "sparse_y_true" || name == "sparse_y_pred") && accepted.classes) {
      ReadBool(value, label, problems);  // labels and outputs are read as they are
    } else if (accepted.threshold != nullptr && name == accepted.threshold_name) {
      ReadThreshold(value, label, accepted.threshold, problems);
    } else if (name == "average" && accepted.average != nullptr) {
      ReadWord<F1Average>(value,
                          {{"macro", F1Average::kMacro},
                           {"micro", F1Average::kMicro},
                           {"weighted", F1Average::kWeighted}},
                          label, accepted.average, problems);
    } else if (name == "curve" && accepted.curve != nullptr) {
      ReadWord<AucCurve>(value, {{"ROC", AucCurve::kRoc}, {"PR", AucCurve::kPr}}, label,
                         accepted.curve, problems);
    } else if (!IsNeutral(name, value)) {
      static const std::vector<std::string> kKnown = {
          "from_logits",  "label_smoothing", "threshold",         "axis",
          "ignore_class", "reduction",       "num_thresholds",    "summation_method",
          "multi_label",  "num_labels",      "label_weights",     "thresholds",
          "top_k",        "class_id",        "class_aggregation", "num_regressors",
          "beta"};
      if (Holds(kKnown, name)) {
        problems->Error(ErrorCode::kNotSupported,
                        "argument \"" + name + "\" of " + owner + " is not supported",
                        "It is set to " + Render(value) + ".");
      } else {
        problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + name + "\"",
                        "", accepted.Names());
      }
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

void AcceptMetricArguments(MetricParams* metric, Accepted* accepted) {
  switch (metric->kind) {
    case MetricKind::kTopK:
      accepted->k = &metric->k;
      break;
    case MetricKind::kTruePositives:
    case MetricKind::kTrueNegatives:
    case MetricKind::kFalsePositives:
    case MetricKind::kFalseNegatives:
    case MetricKind::kPrecision:
    case MetricKind::kRecall:
      accepted->threshold = &metric->threshold;
      break;
    case MetricKind::kF1Score:
      accepted->threshold = &metric->threshold;
      accepted->threshold_name = "threshold";
      accepted->average = &metric->average;
      break;
    case MetricKind::kAuc:
      accepted->curve = &metric->curve;
      break;
    case MetricKind::kMeanIoU:
      accepted->classes = true;
      break;
    default:
      break;
  }
}

// "expr: ..." as loss or metric; false where `value` is none.
bool ReadExpression(const Value& value, const std::string& role, MetricParams* out,
                    ProblemList* problems) {
  ExpressionText text;
  if (value.kind != Value::Kind::kString || !SplitExpression(value.text, &text)) return false;
  out->kind = MetricKind::kLoss;
  out->loss = LossKind::kExpression;
  out->name = value.text;
  out->label = text.name;
  out->ascends = text.ascends;
  // Not read then: its problems would repeat all of it.
  if (value.text.size() >= HOPPER_MAX_NAME) {
    problems->Error(ErrorCode::kLimitExceeded,
                    role + " expression has " + std::to_string(value.text.size()) + " bytes",
                    "At most " + std::to_string(HOPPER_MAX_NAME - 1) + " are possible.");
    return true;
  }
  out->loss_options.expression =
      ParseExpression(text.body, role + " \"" + value.text + "\"", problems);
  return true;
}

void ReadMetric(const Value& value, CompileParams* params, ProblemList* problems) {
  MetricParams expression;
  if (ReadExpression(value, "metric", &expression, problems)) {
    if (expression.loss_options.expression != nullptr) params->metrics.push_back(expression);
    return;
  }
  const auto callable = ReadCallable(value, "metric", problems);
  if (!callable) return;
  const std::string name = SnakeCase(callable->name);
  MetricParams metric;
  metric.name = callable->text;
  const std::string owner = "metric \"" + callable->name + "\"";
  Accepted accepted;
  const auto known = kMetrics.find(name);
  if (const int64_t k = KOfName(name); k > 0) {
    metric.kind = MetricKind::kTopK;
    metric.k = static_cast<int>(k);
  } else if (known != kMetrics.end()) {
    metric.kind = known->second;
    AcceptMetricArguments(&metric, &accepted);
  } else if (const LossEntry* loss = FindLoss(name)) {
    metric.kind = MetricKind::kLoss;
    metric.loss = loss->kind;
    AcceptLossArguments(loss->kind, &metric.loss_options, &accepted);
  } else {
    const bool in_keras = Holds(kLackingMetrics, name) || Holds(kLackingLosses, name);
    RefuseName("metric", callable->name, in_keras, MetricNames(true), MetricNames(false), problems);
    return;
  }
  ReadArguments(*callable, owner, accepted, problems);
  params->metrics.push_back(std::move(metric));
}

}  // namespace

const char* LossName(LossKind loss) {
  return loss == LossKind::kExpression ? "expr" : Losses()[static_cast<size_t>(loss)].name;
}

void ReadLoss(const Value& value, CompileParams* params, ProblemList* problems) {
  if (value.IsSequence() ||
      (value.kind == Value::Kind::kDict && value.Find("class_name") == nullptr)) {
    problems->Error(ErrorCode::kNotSupported, "several losses are not supported",
                    "Models have one output.", "Name one loss, for example loss='mse'.");
    return;
  }
  MetricParams expression;
  if (ReadExpression(value, "loss", &expression, problems)) {
    if (expression.ascends) {
      problems->Error(ErrorCode::kInvalidParameter,
                      "loss \"" + expression.name + "\" cannot be maximized", "",
                      "Write a minus before the expression, and leave max out.");
    }
    params->loss = LossKind::kExpression;
    params->loss_options = expression.loss_options;
    params->loss_name = expression.name;
    return;
  }
  const auto callable = ReadCallable(value, "loss", problems);
  if (!callable) return;
  const std::string name = SnakeCase(callable->name);
  const LossEntry* loss = FindLoss(name);
  if (loss == nullptr) {
    RefuseName("loss", callable->name, Holds(kLackingLosses, name), LossNames(true),
               LossNames(false), problems);
    return;
  }
  params->loss = loss->kind;
  params->loss_name = callable->name;
  Accepted accepted;
  AcceptLossArguments(loss->kind, &params->loss_options, &accepted);
  ReadArguments(*callable, "loss \"" + callable->name + "\"", accepted, problems);
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
