#include "params/metric_params.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model_hopper/limits.h"
#include "params/expression.h"
#include "params/loss_names.h"
#include "params/other_names.h"

namespace hopper {
namespace {

void RefuseMetric(const std::string& name, ProblemList* problems) {
  const std::string snake = SnakeCase(name);
  const bool in_keras = IsLackingLoss(snake) || snake == "mean" || snake == "sum";
  RefuseName("metric", name, in_keras, MetricNames(true), OtherMetricNames(), MetricNames(false),
             problems);
}

std::string WithoutBlanks(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c == '"' ? '\'' : c;
  }
  return out;
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

// What the argument "name" says: results show it, and what names a metric goes by it.
void TakeName(const Callable& callable, MetricParams* metric, ProblemList* problems) {
  for (const ValueEntry& entry : callable.named) {
    if (entry.key.text != "name" || entry.value.IsNone()) continue;
    const std::string& name = entry.value.text;
    if (!entry.value.IsText() || name.empty() || name.size() >= HOPPER_MAX_NAME || name == "loss") {
      problems->Error(
          ErrorCode::kInvalidParameter,
          "metric \"" + callable.name + "\" cannot have the name " + Render(entry.value), "",
          "Names are texts of up to " + std::to_string(HOPPER_MAX_NAME - 1) +
              " bytes, and not \"loss\".");
      return;
    }
    Value rest;
    rest.kind = Value::Kind::kCall;
    rest.text = callable.name;
    rest.items = callable.positional;
    for (const ValueEntry& other : callable.named) {
      if (other.key.text != "name") rest.entries.push_back(other);
    }
    metric->written = Render(rest);
    metric->name = name;
  }
}

}  // namespace

void ReadMetric(const Value& value, CompileParams* params, ProblemList* problems) {
  MetricParams expression;
  if (ReadExpression(value, "metric", &expression, problems)) {
    expression.own = expression.name;
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
  if (const int64_t k = KOfName(name); k > 0) {
    metric.type = FindMetric("top_k");
    metric.k = static_cast<int>(k);
  } else if (const MetricType* type = FindMetric(name)) {
    metric.type = type;
    if (type->arguments != nullptr) type->arguments(&metric, &arguments);
  } else if (const auto loss = FindLoss(name)) {
    metric.type = &LossMetric();
    metric.loss = *loss;
    AddLossArguments(*loss, &metric.loss_options, &arguments);
  } else {
    return RefuseMetric(callable->name, problems);
  }
  arguments.Read(*callable, owner, problems);
  if (metric.loss_options.ignore_class) {
    problems->Error(ErrorCode::kNotSupported,
                    "argument \"ignore_class\" of " + owner + " is not supported",
                    "It is an argument of the loss, and of IoUs.");
  }
  TakeName(*callable, &metric, problems);
  metric.own = metric.name;
  params->metrics.push_back(std::move(metric));
}

// Sorted, those of losses after the others.
std::vector<std::string> MetricNames(bool with_aliases) {
  std::vector<std::string> names;
  for (const MetricType& metric : MetricTypes()) {
    names.insert(names.end(), metric.names.begin(), metric.names.end());
    if (!with_aliases) continue;
    names.insert(names.end(), metric.aliases.begin(), metric.aliases.end());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : LossNames(with_aliases)) names.push_back(name);
  return names;
}

int PowerOfUnit(const MetricParams& metric) {
  // By its place: the row may be that of the other library, which has read the configuration.
  return metric.type->place == LossMetric().place ? LossTypeOf(metric.loss).power_of_unit
                                                  : metric.type->power_of_unit;
}

Direction MetricDirection(const MetricParams& metric) {
  return metric.ascends ? Direction::kUp : metric.type->direction;
}

std::string MetricId(const MetricParams& metric) {
  const MetricType& type = *metric.type;
  if (!type.names.empty()) return type.names.front();
  return type.aliases.empty() ? LossName(metric.loss) : type.aliases.front();
}

std::string MetricIdentity(const MetricParams& metric) {
  if (metric.loss_options.expression != nullptr) return WithoutBlanks(metric.name);
  const std::string written = WithoutBlanks(metric.written.empty() ? metric.own : metric.written);
  const std::string id = MetricId(metric);
  std::string name = metric.prefix + (metric.weighted ? "weighted_" : "") + id;
  if (id == "top_k") name += std::to_string(metric.k);
  const size_t arguments = written.find('(');
  if (arguments == std::string::npos || written.compare(arguments, 2, "()") == 0) return name;
  return name + written.substr(arguments);
}

namespace {

constexpr const char* kBeforeValidation = "val_";

// Of a metric or loss, or one of an output among several: behind its name, which may have such
// lines in it.
std::optional<Direction> FindDirection(std::string name) {
  const std::string first = name.substr(0, 4);
  const bool may_have_output = first != kBeforeValidation && first != "top_";
  while (!name.empty()) {
    const std::string snake = SnakeCase(name);
    if (KOfName(snake) > 0) return FindMetric("top_k")->direction;
    if (const MetricType* metric = FindMetric(snake)) return metric->direction;
    if (FindLoss(snake) || snake == "loss") return LossMetric().direction;
    const size_t line = may_have_output ? name.find('_') : std::string::npos;
    name = line == std::string::npos ? "" : name.substr(line + 1);
  }
  return std::nullopt;
}

}  // namespace

Direction NamedDirection(const std::string& text) {
  ExpressionText expression;
  if (SplitExpression(text, &expression))
    return expression.ascends ? Direction::kUp : Direction::kDown;
  if (text == "loss") return Direction::kDown;
  std::vector<ParamProblem> found;
  ProblemList problems(&found);
  // The arguments may have been cut off, and change nothing.
  const auto callable =
      ReadCallable(Value::String(text.substr(0, text.find('('))), "metric", &problems);
  if (callable) {
    const std::string& name = callable->name;
    if (const auto direction = FindDirection(name)) return *direction;
    RefuseMetric(name, &problems);
    // As monitor calls it; what models are compared by is of the validation data by itself.
    if (name.compare(0, 4, kBeforeValidation) == 0 && FindDirection(name.substr(4))) {
      found.front().hint = "Perhaps you meant \"" + name.substr(4) + "\".";
    }
  }
  throw Error(found.front());
}

}  // namespace hopper
