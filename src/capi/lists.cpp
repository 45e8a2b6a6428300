// What there is, for the functions of SQL that list it. Another list is a function and a row of
// kLists here, and a file in sql/functions with hopper_sql_list.
#include "capi/lists.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capi/boundary.h"
#include "capi/rows.h"
#include "model/tensor_operation.h"
#include "optim/optimizer_type.h"
#include "params/loss_type.h"
#include "params/metric_type.h"
#include "params/value.h"
#include "search/algorithm.h"

namespace hopper {
namespace {

// "a, b", or SQL's NULL for none.
std::optional<std::string> ListText(const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::unique_ptr<Rows> Layers() {
  auto table = std::make_unique<Rows>(5);
  for (const LayerType& type : LayerTable()) {
    if (IsOperationOnly(type)) continue;
    const std::string weights = type.weights;
    table->Add({type.class_name, ListText(ArgumentsOf(type)),
                weights.empty() ? std::nullopt : std::optional(weights), type.description,
                type.since});
  }
  return table;
}

std::optional<std::string> DirectionText(Direction direction) {
  if (direction == Direction::kUnknown) return std::nullopt;
  return direction == Direction::kUp ? "larger" : "smaller";
}

ArgumentList ArgumentsOf(const LossType& loss, LossOptions* options) {
  ArgumentList arguments;
  if (loss.arguments != nullptr) loss.arguments(options, &arguments);
  return arguments;
}

// Losses, too, as each of them may be a metric.
std::unique_ptr<Rows> Metrics() {
  auto table = std::make_unique<Rows>(4);
  for (const MetricType& metric : MetricTypes()) {
    std::vector<std::string> names = metric.names;
    names.insert(names.end(), metric.aliases.begin(), metric.aliases.end());
    if (names.empty()) continue;
    MetricParams params;
    ArgumentList arguments;
    if (metric.arguments != nullptr) metric.arguments(&params, &arguments);
    table->Add({names.front(), ListText({names.begin() + 1, names.end()}),
                ListText(arguments.names()), DirectionText(metric.direction)});
  }
  for (const LossType& loss : LossTypes()) {
    // "cosine_similarity" is a metric, and a loss that is its negative.
    if (!loss.listed || FindMetric(loss.name) != nullptr) continue;
    LossOptions options;
    table->Add({loss.name, ListText(loss.aliases), ListText(ArgumentsOf(loss, &options).names()),
                DirectionText(LossMetric().direction)});
  }
  return table;
}

std::unique_ptr<Rows> Losses() {
  auto table = std::make_unique<Rows>(3);
  for (const LossType& loss : LossTypes()) {
    if (!loss.listed) continue;
    LossOptions options;
    table->Add({loss.name, ListText(loss.aliases), ListText(ArgumentsOf(loss, &options).names())});
  }
  return table;
}

std::unique_ptr<Rows> Optimizers() {
  auto table = std::make_unique<Rows>(2);
  for (const OptimizerType& optimizer : OptimizerTypes()) {
    std::vector<std::string> arguments = {"learning_rate=" + RenderReal(optimizer.learning_rate)};
    if (optimizer.weight_decay != 0.0) {
      arguments.push_back("weight_decay=" + RenderReal(optimizer.weight_decay));
    }
    for (const OptimizerArgument& argument : optimizer.arguments) {
      const bool is_flag = argument.range == nullptr;
      arguments.push_back(std::string(argument.name) + "=" +
                          (is_flag ? "False" : RenderReal(argument.value)));
    }
    table->Add({optimizer.name, ListText(arguments)});
  }
  return table;
}

// "integer=3, word=one, real=0.5"
std::string StandardsText(const AlgorithmType& type) {
  std::string text;
  for (const SearchArgument& argument : type.arguments) {
    text += (text.empty() ? "" : ", ") + argument.name + "=";
    if (!argument.words.empty()) {
      text += argument.words[static_cast<size_t>(argument.standard)];
    } else if (argument.integer) {
      text += std::to_string(static_cast<int64_t>(argument.standard));
    } else {
      text += RenderReal(argument.standard);
    }
  }
  return text;
}

std::unique_ptr<Rows> SearchAlgorithms() {
  auto table = std::make_unique<Rows>(3);
  for (const AlgorithmType& type : AlgorithmTypes()) {
    table->Add({type.name, type.meaning, StandardsText(type)});
  }
  return table;
}

struct List {
  const char* name;  // the SQL function's
  std::unique_ptr<Rows> (*make)();
};
const List kLists[] = {
    {"layers", Layers},
    {"losses", Losses},
    {"metrics", Metrics},
    {"optimizers", Optimizers},
    {"search_algorithms", SearchAlgorithms},
};

}  // namespace

int ListRows(const char* what, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    for (const List& list : kLists) {
      if (std::strcmp(what, list.name) != 0) continue;
      *rows = Rows::Release(list.make());
      return;
    }
    throw Error(ErrorCode::kNotSupported, std::string("there is no list \"") + what + "\"");
  });
}

}  // namespace hopper
