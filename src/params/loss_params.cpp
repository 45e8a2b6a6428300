#include "params/loss_params.h"

#include <algorithm>
#include <utility>

#include "params/expression.h"
#include "params/loss_names.h"
#include "params/metric_type.h"

namespace hopper {
namespace {

constexpr int kMaxAxis = HOPPER_MAX_RANK;
const Range kInsideUnit = {0, 1, true, true, "must be above 0 and below 1"};

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
      {LossKind::kDice, "dice", {}},
      {LossKind::kTversky, "tversky", {}},
      {LossKind::kGeneralizedCrossentropy, "categorical_generalized_cross_entropy", {}},
  };
  return losses;
}

}  // namespace

const LossEntry* FindLoss(const std::string& name) {
  for (const LossEntry& loss : Losses()) {
    const auto& aliases = loss.aliases;
    if (name == loss.name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
      return &loss;
    }
  }
  return nullptr;
}

std::vector<std::string> LossNames(bool with_aliases) {
  std::vector<std::string> names;
  for (const LossEntry& loss : Losses()) {
    names.push_back(loss.name);
    if (with_aliases) names.insert(names.end(), loss.aliases.begin(), loss.aliases.end());
  }
  return names;
}

bool IsLackingLoss(const std::string& name) { return name == "circle" || name == "ctc"; }

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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

void AddLossArguments(LossKind loss, LossOptions* options, ArgumentList* arguments) {
  const auto logits = [&] {
    arguments->AddBool("from_logits", &options->from_logits);
    if (loss == LossKind::kSparseCategoricalCrossentropy) return;
    arguments->AddNumber("label_smoothing", kUnit, &options->label_smoothing);
  };
  const auto axes = [&] { arguments->AddIntegers("axis", -kMaxAxis, kMaxAxis, &options->axes); };
  switch (loss) {
    case LossKind::kCategoricalCrossentropy:
    case LossKind::kSparseCategoricalCrossentropy:
    case LossKind::kBinaryCrossentropy:
      return logits();
    case LossKind::kBinaryFocalCrossentropy:
      arguments->AddBool("apply_class_balancing", &options->class_balancing);
      [[fallthrough]];
    case LossKind::kCategoricalFocalCrossentropy:
      arguments->AddNumber("alpha", kUnit, &options->alpha);
      arguments->AddNumber("gamma", kNotNegative, &options->gamma);
      return logits();
    case LossKind::kHuber:
      return arguments->AddNumber("delta", kPositive, &options->delta);
    case LossKind::kDice:
      return axes();
    case LossKind::kTversky:
      options->alpha = 0.5;
      arguments->AddNumber("alpha", kNotNegative, &options->alpha);
      arguments->AddNumber("beta", kNotNegative, &options->beta);
      return axes();
    case LossKind::kGeneralizedCrossentropy:
      return arguments->AddNumber("q", kInsideUnit, &options->q);
    default:
      return;
  }
}

bool ReadExpression(const Value& value, const std::string& role, MetricParams* out,
                    ProblemList* problems) {
  ExpressionText text;
  if (value.kind != Value::Kind::kString || !SplitExpression(value.text, &text)) return false;
  out->type = &LossMetric();
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
    RefuseName("loss", callable->name, IsLackingLoss(name), LossNames(true), LossNames(false),
               problems);
    return;
  }
  params->loss = loss->kind;
  params->loss_name = callable->name;
  ArgumentList arguments;
  AddLossArguments(loss->kind, &params->loss_options, &arguments);
  arguments.Read(*callable, "loss \"" + callable->name + "\"", problems);
}

}  // namespace hopper
