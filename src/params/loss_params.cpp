#include "params/loss_params.h"

#include <algorithm>
#include <utility>

#include "model_hopper/limits.h"
#include "params/expression.h"
#include "params/loss_names.h"
#include "params/loss_type.h"
#include "params/metric_type.h"
#include "params/other_names.h"

namespace hopper {
namespace {

bool Matches(const LossType& loss, const std::string& name) {
  return loss.listed && (name == loss.name || Holds(loss.aliases, name));
}

}  // namespace

std::optional<LossKind> FindLoss(const std::string& name) {
  const std::vector<LossType>& losses = LossTypes();
  for (size_t i = 0; i < losses.size(); ++i) {
    if (Matches(losses[i], name)) return static_cast<LossKind>(i);
  }
  return std::nullopt;
}

std::vector<std::string> LossNames(bool with_aliases) {
  std::vector<std::string> names;
  for (const LossType& loss : LossTypes()) {
    if (!loss.listed) continue;
    names.emplace_back(loss.name);
    if (with_aliases) names.insert(names.end(), loss.aliases.begin(), loss.aliases.end());
  }
  return names;
}

bool IsLackingLoss(const std::string& name) { return name == "circle" || name == "ctc"; }

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void RefuseName(const std::string& role, const std::string& name, bool in_keras,
                const std::vector<std::string>& names, const OtherNames& others,
                const std::vector<std::string>& choice, ProblemList* problems) {
  const std::string use = "Use one of " + Join(choice) + ".";
  if (in_keras) {
    problems->Error(ErrorCode::kNotSupported, role + " \"" + name + "\" is not supported", "", use);
    return;
  }
  const std::string hint = NearestNameHint(name, names, others);
  problems->Error(ErrorCode::kInvalidParameter, role + " \"" + name + "\" is not known", "",
                  hint.empty() ? use : hint);
}

void AddLossArguments(LossKind loss, LossOptions* options, ArgumentList* arguments) {
  const LossType& type = LossTypeOf(loss);
  if (type.arguments != nullptr) type.arguments(options, arguments);
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

const char* LossName(LossKind loss) { return LossTypeOf(loss).name; }

bool ReadLoss(const Value& value, OutputLoss* loss, ProblemList* problems) {
  MetricParams expression;
  if (ReadExpression(value, "loss", &expression, problems)) {
    if (expression.ascends) {
      problems->Error(ErrorCode::kInvalidParameter,
                      "loss \"" + expression.name + "\" cannot be maximized", "",
                      "Write a minus before the expression, and leave max out.");
    }
    loss->loss = LossKind::kExpression;
    loss->options = expression.loss_options;
    loss->name = expression.name;
    return true;
  }
  const auto callable = ReadCallable(value, "loss", problems);
  if (!callable) return false;
  const std::string name = SnakeCase(callable->name);
  const std::optional<LossKind> kind = FindLoss(name);
  if (!kind) {
    RefuseName("loss", callable->name, IsLackingLoss(name), LossNames(true), OtherLossNames(),
               LossNames(false), problems);
    return false;
  }
  loss->loss = *kind;
  loss->name = callable->name;
  ArgumentList arguments;
  AddLossArguments(*kind, &loss->options, &arguments);
  arguments.Read(*callable, "loss \"" + callable->name + "\"", problems);
  return true;
}

const char* WhyNoLossOfMembers(LossKind loss, const LossOptions& options, Activation last) {
  if (LossTypeOf(loss).overlap != nullptr) return "It adds up all values of an example or batch.";
  if (options.ignore_class) return "It leaves out steps of a class, by ignore_class.";
  if (last == Activation::kLinear) return nullptr;
  if (options.from_logits) return "The mean is of probabilities, and from_logits takes logits.";
  if (UsesLogits(loss, last)) return nullptr;
  return "Members before the activation of EnsembleAverage are logits, and it takes none.";
}

}  // namespace hopper
