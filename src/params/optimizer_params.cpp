#include "params/optimizer_params.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "params/schedule_params.h"

namespace hopper {
namespace {

// In the order of OptimizerKind.
const std::vector<std::string> kSupported = {"SGD",      "RMSprop", "Adam",  "AdamW", "Adagrad",
                                             "Adadelta", "Adamax",  "Nadam", "Ftrl",  "Lion"};
// Keras has them, this version does not.
const std::vector<std::string> kLacking = {"Lamb", "Muon", "Adafactor", "LossScaleOptimizer"};

const std::vector<std::string> kCommonArguments = {
    "learning_rate",   "lr",      "decay",        "weight_decay",           "clipnorm", "clipvalue",
    "global_clipnorm", "use_ema", "ema_momentum", "ema_overwrite_frequency"};

std::vector<std::string> ArgumentsOf(OptimizerKind kind) {
  std::vector<std::string> names = kCommonArguments;
  const auto add = [&names](std::initializer_list<const char*> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  switch (kind) {
    case OptimizerKind::kSgd:
      add({"momentum", "nesterov"});
      break;
    case OptimizerKind::kRmsprop:
      add({"rho", "momentum", "epsilon", "centered"});
      break;
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      add({"beta_1", "beta_2", "epsilon", "amsgrad"});
      break;
    case OptimizerKind::kAdagrad:
      add({"initial_accumulator_value", "epsilon"});
      break;
    case OptimizerKind::kAdadelta:
      add({"rho", "epsilon"});
      break;
    case OptimizerKind::kAdamax:
    case OptimizerKind::kNadam:
      add({"beta_1", "beta_2", "epsilon"});
      break;
    case OptimizerKind::kFtrl:
      add({"learning_rate_power", "initial_accumulator_value", "l1_regularization_strength",
           "l2_regularization_strength", "l2_shrinkage_regularization_strength", "beta"});
      break;
    case OptimizerKind::kLion:
      add({"beta_1", "beta_2"});
      break;
  }
  return names;
}

bool EqualIgnoringCase(const std::string& a, const std::string& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           const auto lower = [](char c) {
             return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
           };
           return lower(x) == lower(y);
         });
}

// None, and False for what is off.
bool IsOff(const Value& value) {
  return value.IsNone() || (value.kind == Value::Kind::kBool && !value.boolean);
}

// What Keras writes into an optimizer's config besides hyper-parameters: arguments that change
// nothing at their default. True where `name` is one; a value that would change something is a
// problem.
bool ReadNeutral(const std::string& name, const Value& value, const std::string& owner,
                 ProblemList* problems) {
  static const std::vector<std::string> kWithoutEffect = {"name", "is_legacy_optimizer",
                                                          "jit_compile"};
  static const std::vector<std::string> kOffByDefault = {"loss_scale_factor",
                                                         "gradient_accumulation_steps"};
  const auto holds = [&name](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (holds(kWithoutEffect)) return true;
  if (!holds(kOffByDefault)) return false;
  if (!IsOff(value)) {
    problems->Error(ErrorCode::kNotSupported,
                    "argument \"" + name + "\" of " + owner + " is not supported");
  }
  return true;
}

// Reads an argument other than the learning rate.
void ReadArgument(const std::string& argument, const Value& v, OptimizerParams* params,
                  ProblemList* problems) {
  struct Number {
    const char* name;
    const Range& range;
    double OptimizerParams::*member;
  };
  static const Number kNumbers[] = {
      {"momentum", kUnit, &OptimizerParams::momentum},
      {"rho", kUnitHalfOpen, &OptimizerParams::rho},
      {"beta_1", kUnitHalfOpen, &OptimizerParams::beta_1},
      {"beta_2", kUnitHalfOpen, &OptimizerParams::beta_2},
      {"epsilon", kNotNegative, &OptimizerParams::epsilon},
      {"decay", kNotNegative, &OptimizerParams::decay},
      {"weight_decay", kNotNegative, &OptimizerParams::weight_decay},
      {"ema_momentum", kUnit, &OptimizerParams::ema_momentum},
      {"initial_accumulator_value", kNotNegative, &OptimizerParams::initial_accumulator_value},
      {"learning_rate_power", kNotPositive, &OptimizerParams::learning_rate_power},
      {"l1_regularization_strength", kNotNegative, &OptimizerParams::l1_regularization_strength},
      {"l2_regularization_strength", kNotNegative, &OptimizerParams::l2_regularization_strength},
      {"l2_shrinkage_regularization_strength", kNotNegative,
       &OptimizerParams::l2_shrinkage_regularization_strength},
      {"beta", kNotNegative, &OptimizerParams::beta},
  };
  struct Flag {
    const char* name;
    bool OptimizerParams::*member;
  };
  static const Flag kFlags[] = {
      {"nesterov", &OptimizerParams::nesterov},
      {"centered", &OptimizerParams::centered},
      {"amsgrad", &OptimizerParams::amsgrad},
      {"use_ema", &OptimizerParams::use_ema},
  };
  struct Limit {
    const char* name;
    std::optional<double> OptimizerParams::*member;
  };
  static const Limit kLimits[] = {
      {"clipnorm", &OptimizerParams::clipnorm},
      {"clipvalue", &OptimizerParams::clipvalue},
      {"global_clipnorm", &OptimizerParams::global_clipnorm},
  };
  for (const Flag& flag : kFlags) {
    if (argument != flag.name) continue;
    if (const auto b = ReadBool(v, argument, problems)) params->*flag.member = *b;
  }
  if (argument == "ema_overwrite_frequency") {
    const auto n = ReadInteger(v, 1, std::numeric_limits<int32_t>::max(), argument, problems);
    if (n) params->ema_overwrite_frequency = *n;
  }
  for (const Limit& limit : kLimits) {
    if (argument != limit.name || IsOff(v)) continue;
    if (const auto x = ReadNumber(v, kPositive, argument, problems)) params->*limit.member = *x;
  }
  for (const Number& number : kNumbers) {
    if (argument != number.name || (argument == "weight_decay" && IsOff(v))) continue;
    const bool lion = params->kind == OptimizerKind::kLion && argument == "beta_1";
    const Range& range = lion ? kPositiveUnit : number.range;
    if (const auto x = ReadNumber(v, range, argument, problems)) params->*number.member = *x;
  }
}

}  // namespace

OptimizerParams DefaultOptimizer(OptimizerKind kind) {
  OptimizerParams params;
  params.kind = kind;
  if (kind == OptimizerKind::kSgd) params.learning_rate = 0.01;
  if (kind == OptimizerKind::kAdamW) params.weight_decay = 0.004;
  if (kind == OptimizerKind::kAdadelta) params.rho = 0.95;
  if (kind == OptimizerKind::kLion) params.beta_2 = 0.99;
  return params;
}

std::string NormalizeOptimizerName(const std::string& name) {
  for (const auto* names : {&kSupported, &kLacking}) {
    for (const std::string& known : *names) {
      if (EqualIgnoringCase(name, known)) return known;
    }
  }
  return name;
}

void ReadOptimizer(const Value& value, OptimizerParams* params, ProblemList* problems) {
  const auto callable = ReadCallable(value, "optimizer", problems);
  if (!callable) return;
  const std::string name = NormalizeOptimizerName(callable->name);
  const auto known = std::find(kSupported.begin(), kSupported.end(), name);
  if (known == kSupported.end()) {
    const std::string choice = "Use one of " + Join(kSupported) + ".";
    if (std::find(kLacking.begin(), kLacking.end(), name) != kLacking.end()) {
      problems->Error(ErrorCode::kNotSupported, "optimizer \"" + name + "\" is not supported", "",
                      choice);
    } else {
      const std::string hint = NearestNameHint(callable->name, kSupported);
      problems->Error(ErrorCode::kInvalidParameter,
                      "optimizer \"" + callable->name + "\" is not known", "",
                      hint.empty() ? choice : hint);
    }
    return;
  }
  *params = DefaultOptimizer(static_cast<OptimizerKind>(known - kSupported.begin()));

  const std::string owner = "optimizer \"" + name + "\"";
  std::vector<ValueEntry> named = callable->named;
  if (callable->positional.size() > 1) {
    problems->Error(ErrorCode::kInvalidParameter, owner + " takes its arguments by name", "",
                    "Write " + name + "(learning_rate=0.01), for example.");
    return;
  }
  if (!callable->positional.empty()) {
    named.insert(named.begin(), {Value::String("learning_rate"), callable->positional[0]});
  }

  const std::vector<std::string> arguments = ArgumentsOf(params->kind);
  bool has_learning_rate = false;
  for (const ValueEntry& entry : named) {
    const std::string argument = entry.key.IsText() ? entry.key.text : Render(entry.key);
    const Value& v = entry.value;
    if (std::find(arguments.begin(), arguments.end(), argument) == arguments.end()) {
      if (ReadNeutral(argument, v, owner, problems)) continue;
      // "momentum" does not mean "ema_momentum".
      std::vector<std::string> candidates;
      std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(candidates),
                   [](const std::string& name) { return name.compare(0, 4, "ema_") != 0; });
      const std::string hint = NearestNameHint(argument, candidates);
      problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + argument + "\"",
                      "", hint.empty() ? "Its arguments are " + Join(arguments) + "." : hint);
    } else if (argument == "learning_rate" || argument == "lr") {
      if (has_learning_rate) {
        problems->Error(ErrorCode::kInvalidParameter, owner + " is given two learning rates");
      } else if (IsSchedule(v)) {
        ReadSchedule(v, params, problems);
      } else if (const auto rate = ReadNumber(v, kPositive, "learning rate", problems)) {
        params->learning_rate = *rate;
      }
      has_learning_rate = true;
    } else if (!v.IsNone()) {  // as in Keras: None is the default
      ReadArgument(argument, v, params, problems);
    }
  }
  if (params->clipnorm.has_value() + params->clipvalue.has_value() +
          params->global_clipnorm.has_value() >
      1) {
    std::vector<std::string> given;
    if (params->clipnorm) given.push_back("clipnorm");
    if (params->clipvalue) given.push_back("clipvalue");
    if (params->global_clipnorm) given.push_back("global_clipnorm");
    problems->Error(ErrorCode::kInvalidParameter,
                    owner + " has both " + given[0] + " and " + given[1],
                    "Keras allows one of them.", "Leave one of them out.");
  }
  if (params->decay != 0.0 && params->schedule.kind != ScheduleKind::kConstant) {
    problems->Error(ErrorCode::kInvalidParameter,
                    owner + " has both decay and a learning rate schedule", "",
                    "Leave one of them out.");
  }
}

}  // namespace hopper
