// What reading losses and reading metrics share: every loss is a metric as well.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "params/arguments.h"
#include "params/params.h"

namespace hopper {

// By a name or alias in snake case; nothing where there is none.
std::optional<LossKind> FindLoss(const std::string& name);
std::vector<std::string> LossNames(bool with_aliases);
// A loss of Keras that is none here.
bool IsLackingLoss(const std::string& name);
bool Holds(const std::vector<std::string>& names, const std::string& name);

// 'loss "x" is not known', or not supported where Keras knows it.
void RefuseName(const std::string& role, const std::string& name, bool in_keras,
                const std::vector<std::string>& names, const OtherNames& others,
                const std::vector<std::string>& choice, ProblemList* problems);

// The arguments that a loss takes, under Keras' names; gives `options` its defaults.
void AddLossArguments(LossKind loss, LossOptions* options, ArgumentList* arguments);

// "expr: ..." as loss or metric; false where `value` is none.
bool ReadExpression(const Value& value, const std::string& role, MetricParams* out,
                    ProblemList* problems);

}  // namespace hopper
