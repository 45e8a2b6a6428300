#include "params/metric_params.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "params/expression.h"
#include "params/loss_names.h"

namespace hopper {
namespace {

constexpr Direction kUp = Direction::kUp, kDown = Direction::kDown;

// Metrics that are no losses, or have a kind of their own. Names are in snake case.
struct MetricEntry {
  MetricKind kind;
  Direction direction;
  std::vector<std::string> names;
  std::vector<std::string> aliases;  // left out of lists that people read
};

const std::vector<MetricEntry>& Metrics() {
  static const std::vector<MetricEntry> metrics = {
      {MetricKind::kAccuracy, kUp, {"accuracy"}, {"acc"}},
      {MetricKind::kBinaryAccuracy, kUp, {"binary_accuracy"}, {}},
      {MetricKind::kCategoricalAccuracy, kUp, {"categorical_accuracy"}, {}},
      {MetricKind::kSparseCategoricalAccuracy, kUp, {"sparse_categorical_accuracy"}, {}},
      {MetricKind::kTopK,
       kUp,
       {"top_k", "top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy"},
       {}},
      {MetricKind::kMeanSquaredError, kDown, {}, {"mean_squared_error", "mse"}},
      {MetricKind::kMeanAbsoluteError, kDown, {}, {"mean_absolute_error", "mae"}},
      {MetricKind::kRootMeanSquaredError, kDown, {"root_mean_squared_error"}, {"rmse"}},
      // Without the loss's minus.
      {MetricKind::kCosineSimilarity, kUp, {}, {"cosine_similarity", "cosine_proximity"}},
      {MetricKind::kCrossentropy, kDown, {"crossentropy"}, {"ce"}},
      // Keras leaves it to the user what is wanted of counts.
      {MetricKind::kTruePositives, Direction::kUnknown, {"true_positives"}, {}},
      {MetricKind::kTrueNegatives, Direction::kUnknown, {"true_negatives"}, {}},
      {MetricKind::kFalsePositives, Direction::kUnknown, {"false_positives"}, {}},
      {MetricKind::kFalseNegatives, Direction::kUnknown, {"false_negatives"}, {}},
      {MetricKind::kPrecision, kUp, {"precision"}, {}},
      {MetricKind::kRecall, kUp, {"recall"}, {}},
      {MetricKind::kFBetaScore, kUp, {"f1_score", "f_beta_score"}, {"fbeta_score"}},
      {MetricKind::kAuc, kUp, {"auc"}, {}},
      {MetricKind::kR2Score, kUp, {"r2_score"}, {}},
      {MetricKind::kIoU, kUp, {"mean_io_u", "io_u"}, {"one_hot_mean_io_u", "one_hot_io_u"}},
      {MetricKind::kBinaryIoU, kUp, {"binary_io_u"}, {}},
      {MetricKind::kPrecisionAtRecall, kUp, {"precision_at_recall"}, {}},
      {MetricKind::kRecallAtPrecision, kUp, {"recall_at_precision"}, {}},
      {MetricKind::kSensitivityAtSpecificity, kUp, {"sensitivity_at_specificity"}, {}},
      {MetricKind::kSpecificityAtSensitivity, kUp, {"specificity_at_sensitivity"}, {}},
      {MetricKind::kPearsonCorrelation, kUp, {"pearson_correlation"}, {}},
      {MetricKind::kConcordanceCorrelation, kUp, {"concordance_correlation"}, {}},
  };
  return metrics;
}

const MetricEntry* FindMetric(const std::string& name) {
  for (const MetricEntry& metric : Metrics()) {
    if (Holds(metric.names, name) || Holds(metric.aliases, name)) return &metric;
  }
  return nullptr;
}

void RefuseMetric(const std::string& name, ProblemList* problems) {
  const std::string snake = SnakeCase(name);
  const bool in_keras = IsLackingLoss(snake) || snake == "mean" || snake == "sum";
  RefuseName("metric", name, in_keras, MetricNames(true), MetricNames(false), problems);
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

constexpr int kMaxThresholds = 10000;

// Options of the metrics that are no losses, under Keras' names and in Keras' order.
void AddMetricArguments(const std::string& name, MetricParams* metric, ArgumentList* arguments) {
  const auto num_thresholds = [&] {
    arguments->Add("num_thresholds",
                   [metric](const Value& value, const std::string& label, ProblemList* problems) {
                     const auto n = ReadInteger(value, 2, kMaxThresholds, label, problems);
                     if (n) metric->num_thresholds = static_cast<int>(*n);
                   });
  };
  const auto class_id = [&] { arguments->AddInteger("class_id", 0, &metric->class_id); };
  const auto at = [&](const char* of) {
    arguments->AddNumber(of, kUnit, &metric->bound, /*required=*/true);
    num_thresholds();
    class_id();
  };
  switch (metric->kind) {
    case MetricKind::kTopK:
      return arguments->AddInteger("k", 1, &metric->k);
    case MetricKind::kBinaryAccuracy:
      return arguments->AddThreshold("threshold", &metric->threshold);
    case MetricKind::kTruePositives:
    case MetricKind::kTrueNegatives:
    case MetricKind::kFalsePositives:
    case MetricKind::kFalseNegatives:
      return arguments->AddThreshold("thresholds", &metric->threshold);
    case MetricKind::kPrecision:
    case MetricKind::kRecall:
      arguments->AddThreshold("thresholds", &metric->threshold);
      arguments->AddInteger("top_k", 1, &metric->top_k);
      return class_id();
    case MetricKind::kPrecisionAtRecall:
      return at("recall");
    case MetricKind::kRecallAtPrecision:
      return at("precision");
    case MetricKind::kSensitivityAtSpecificity:
      return at("specificity");
    case MetricKind::kSpecificityAtSensitivity:
      return at("sensitivity");
    case MetricKind::kFBetaScore:
      arguments->AddWord<FAverage>("average",
                                   {{"macro", FAverage::kMacro},
                                    {"micro", FAverage::kMicro},
                                    {"weighted", FAverage::kWeighted}},
                                   &metric->average);
      if (name != "f1_score") arguments->AddNumber("beta", kPositive, &metric->beta);
      return arguments->AddThreshold("threshold", &metric->threshold);
    case MetricKind::kAuc:
      num_thresholds();
      arguments->AddWord<AucCurve>("curve", {{"ROC", AucCurve::kRoc}, {"PR", AucCurve::kPr}},
                                   &metric->curve);
      return arguments->AddWord<AucSum>("summation_method",
                                        {{"interpolation", AucSum::kInterpolation},
                                         {"minoring", AucSum::kMinoring},
                                         {"majoring", AucSum::kMajoring}},
                                        &metric->summation);
    case MetricKind::kR2Score:
      arguments->AddWord<R2Aggregation>(
          "class_aggregation",
          {{"uniform_average", R2Aggregation::kUniform},
           {"variance_weighted_average", R2Aggregation::kVarianceWeighted}},
          &metric->aggregation);
      return arguments->AddInteger("num_regressors", 0, &metric->num_regressors);
    case MetricKind::kIoU: {
      const auto any_bool = [](const Value& value, const std::string& label,
                               ProblemList* problems) { ReadBool(value, label, problems); };
      arguments->AddUnused(
          "num_classes", [](const Value& value, const std::string& label, ProblemList* problems) {
            ReadInteger(value, 2, std::numeric_limits<int>::max(), label, problems);
          });
      if (name == "io_u" || name == "one_hot_io_u") {
        arguments->AddIntegers("target_class_ids", 0, std::numeric_limits<int>::max(),
                               &metric->class_ids, /*required=*/true);
      }
      arguments->AddInteger("ignore_class", 0, &metric->ignore_class);
      arguments->AddUnused("sparse_y_true", any_bool);  // labels and outputs are read as they are
      return arguments->AddUnused("sparse_y_pred", any_bool);
    }
    case MetricKind::kBinaryIoU:
      arguments->AddIntegers("target_class_ids", 0, 1, &metric->class_ids);
      return arguments->AddThreshold("threshold", &metric->threshold);
    default:
      return;
  }
}

void ReadMetric(const Value& value, CompileParams* params, ProblemList* problems) {
  MetricParams expression;
  if (ReadExpression(value, "metric", &expression, problems)) {
    if (expression.loss_options.expression != nullptr) params->metrics.push_back(expression);
    return;
  }
  const auto callable = ReadCallable(value, "metric", problems);
  if (!callable) return;
  // It is what NamedDirection() goes by, where the text has been cut to HOPPER_MAX_NAME.
  const size_t length = callable->text.substr(0, callable->text.find('(')).size();
  if (length >= HOPPER_MAX_NAME) {
    problems->Error(ErrorCode::kLimitExceeded,
                    "the name of a metric has " + std::to_string(length) + " bytes",
                    "At most " + std::to_string(HOPPER_MAX_NAME - 1) + " are possible.");
    return;
  }
  const std::string name = SnakeCase(callable->name);
  MetricParams metric;
  metric.name = callable->text;
  const std::string owner = "metric \"" + callable->name + "\"";
  ArgumentList arguments;
  const MetricEntry* known = FindMetric(name);
  if (const int64_t k = KOfName(name); k > 0) {
    metric.kind = MetricKind::kTopK;
    metric.k = static_cast<int>(k);
  } else if (known != nullptr) {
    metric.kind = known->kind;
    AddMetricArguments(name, &metric, &arguments);
  } else if (const LossEntry* loss = FindLoss(name)) {
    metric.kind = MetricKind::kLoss;
    metric.loss = loss->kind;
    AddLossArguments(loss->kind, &metric.loss_options, &arguments);
  } else {
    return RefuseMetric(callable->name, problems);
  }
  arguments.Read(*callable, owner, problems);
  params->metrics.push_back(std::move(metric));
}

}  // namespace

// Sorted, those of losses after the others.
std::vector<std::string> MetricNames(bool with_aliases) {
  std::vector<std::string> names;
  for (const MetricEntry& metric : Metrics()) {
    names.insert(names.end(), metric.names.begin(), metric.names.end());
    if (!with_aliases) continue;
    names.insert(names.end(), metric.aliases.begin(), metric.aliases.end());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : LossNames(with_aliases)) names.push_back(name);
  return names;
}

Direction MetricDirection(const MetricParams& metric) {
  if (metric.kind == MetricKind::kLoss) return metric.ascends ? kUp : kDown;
  for (const MetricEntry& entry : Metrics()) {
    if (entry.kind == metric.kind) return entry.direction;
  }
  return Direction::kUnknown;
}

Direction NamedDirection(const std::string& text) {
  ExpressionText expression;
  if (SplitExpression(text, &expression)) return expression.ascends ? kUp : kDown;
  if (text == "loss") return kDown;
  std::vector<ParamProblem> found;
  ProblemList problems(&found);
  // The arguments may have been cut off, and change nothing.
  const auto callable =
      ReadCallable(Value::String(text.substr(0, text.find('('))), "metric", &problems);
  if (callable) {
    const std::string name = SnakeCase(callable->name);
    if (KOfName(name) > 0) return kUp;
    if (const MetricEntry* metric = FindMetric(name)) return metric->direction;
    if (FindLoss(name) != nullptr) return kDown;
    RefuseMetric(callable->name, &problems);
  }
  throw Error(found.front());
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
