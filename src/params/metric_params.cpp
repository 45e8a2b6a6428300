#include "params/metric_params.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "params/loss_names.h"

namespace hopper {
namespace {

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
    {"f1_score", MetricKind::kFBetaScore},
    {"f_beta_score", MetricKind::kFBetaScore},
    {"fbeta_score", MetricKind::kFBetaScore},
    {"auc", MetricKind::kAuc},
    {"r2_score", MetricKind::kR2Score},
    {"mean_io_u", MetricKind::kIoU},
    {"one_hot_mean_io_u", MetricKind::kIoU},
    {"io_u", MetricKind::kIoU},
    {"one_hot_io_u", MetricKind::kIoU},
    {"binary_io_u", MetricKind::kBinaryIoU},
    {"precision_at_recall", MetricKind::kPrecisionAtRecall},
    {"recall_at_precision", MetricKind::kRecallAtPrecision},
    {"sensitivity_at_specificity", MetricKind::kSensitivityAtSpecificity},
    {"specificity_at_sensitivity", MetricKind::kSpecificityAtSensitivity},
    {"pearson_correlation", MetricKind::kPearsonCorrelation},
    {"concordance_correlation", MetricKind::kConcordanceCorrelation},
};

// Every metric has one name in `with_aliases` false, for lists that people read.
std::vector<std::string> MetricNames(bool with_aliases) {
  static const std::vector<std::string> kShort = {
      "acc", "ce", "cosine_proximity", "fbeta_score", "one_hot_io_u", "one_hot_mean_io_u", "rmse"};
  std::vector<std::string> names;
  for (const auto& [name, kind] : kMetrics) {
    const bool alias =
        std::find(kShort.begin(), kShort.end(), name) != kShort.end() || FindLoss(name) != nullptr;
    if (with_aliases || !alias) names.push_back(name);
  }
  for (const std::string& name : LossNames(with_aliases)) names.push_back(name);
  return names;
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
  const std::string name = SnakeCase(callable->name);
  MetricParams metric;
  metric.name = callable->text;
  const std::string owner = "metric \"" + callable->name + "\"";
  ArgumentList arguments;
  const auto known = kMetrics.find(name);
  if (const int64_t k = KOfName(name); k > 0) {
    metric.kind = MetricKind::kTopK;
    metric.k = static_cast<int>(k);
  } else if (known != kMetrics.end()) {
    metric.kind = known->second;
    AddMetricArguments(name, &metric, &arguments);
  } else if (const LossEntry* loss = FindLoss(name)) {
    metric.kind = MetricKind::kLoss;
    metric.loss = loss->kind;
    AddLossArguments(loss->kind, &metric.loss_options, &arguments);
  } else {
    const bool in_keras = IsLackingLoss(name) || name == "mean" || name == "sum";
    RefuseName("metric", callable->name, in_keras, MetricNames(true), MetricNames(false), problems);
    return;
  }
  arguments.Read(*callable, owner, problems);
  params->metrics.push_back(std::move(metric));
}

}  // namespace

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
