#include "params/optimizer_params.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "base/letters.h"
#include "optim/optimizer_type.h"
#include "params/other_names.h"
#include "params/schedule_params.h"

namespace hopper {
namespace {

// Keras has them; some of them have no row here.
const std::vector<std::string> kKerasNames = {"SGD",
                                              "RMSprop",
                                              "Adam",
                                              "AdamW",
                                              "Adagrad",
                                              "Adadelta",
                                              "Adamax",
                                              "Nadam",
                                              "Ftrl",
                                              "Lion",
                                              "Lamb",
                                              "Muon",
                                              "Adafactor",
                                              "MultiOptimizer",
                                              "ScheduleFreeAdamW",
                                              "LossScaleOptimizer"};

const std::vector<std::string> kCommonArguments = {"learning_rate",
                                                   "lr",
                                                   "decay",
                                                   "weight_decay",
                                                   "clipnorm",
                                                   "clipvalue",
                                                   "global_clipnorm",
                                                   "use_ema",
                                                   "ema_momentum",
                                                   "ema_overwrite_frequency",
                                                   "learning_rate_schedule",
                                                   "weight_decay_schedule"};

std::vector<std::string> ArgumentsOf(const OptimizerType& type) {
  std::vector<std::string> names = kCommonArguments;
  for (const OptimizerArgument& argument : type.arguments) names.emplace_back(argument.name);
  return names;
}

std::vector<std::string> SupportedNames() {
  std::vector<std::string> names;
  for (const OptimizerType& type : OptimizerTypes()) names.emplace_back(type.name);
  return names;
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
      {"decay", kNotNegative, &OptimizerParams::decay},
      {"weight_decay", kNotNegative, &OptimizerParams::weight_decay},
      {"ema_momentum", kUnit, &OptimizerParams::ema_momentum},
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
  const OptimizerArguments& own = params->type->arguments;
  for (size_t i = 0; i < own.size(); ++i) {
    if (argument != own[i].name) continue;
    if (own[i].range == nullptr) {
      if (const auto b = ReadBool(v, argument, problems)) params->own[i] = *b ? 1.0 : 0.0;
    } else if (const auto x = ReadNumber(v, *own[i].range, argument, problems)) {
      params->own[i] = *x;
    }
    return;
  }
  if (argument == "use_ema") {
    if (const auto b = ReadBool(v, argument, problems)) params->use_ema = *b;
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
    if (const auto x = ReadNumber(v, number.range, argument, problems)) params->*number.member = *x;
  }
}

}  // namespace

std::string NormalizeOptimizerName(const std::string& name) {
  if (const OptimizerType* type = FindOptimizer(name)) return type->name;
  for (const std::string& known : kKerasNames) {
    if (EqualIgnoringCase(name, known)) return known;
  }
  return name;
}

bool IsOptimizerArgument(const std::string& name) {
  return std::any_of(OptimizerTypes().begin(), OptimizerTypes().end(),
                     [&name](const OptimizerType& type) {
                       const std::vector<std::string> names = ArgumentsOf(type);
                       return std::find(names.begin(), names.end(), name) != names.end();
                     });
}

void ReadOptimizer(const Value& value, OptimizerParams* params, ProblemList* problems) {
  const auto callable = ReadCallable(value, "optimizer", problems);
  if (!callable) return;
  const std::string name = NormalizeOptimizerName(callable->name);
  const OptimizerType* type = FindOptimizer(name);
  if (type == nullptr) {
    const std::vector<std::string> supported = SupportedNames();
    const std::string choice = "Use one of " + Join(supported) + ".";
    if (std::find(std::begin(kKerasNames), std::end(kKerasNames), name) != std::end(kKerasNames)) {
      problems->Error(ErrorCode::kNotSupported, "optimizer \"" + name + "\" is not supported", "",
                      choice);
    } else {
      const std::string hint = NearestNameHint(callable->name, supported);
      problems->Error(ErrorCode::kInvalidParameter,
                      "optimizer \"" + callable->name + "\" is not known", "",
                      hint.empty() ? choice : hint);
    }
    return;
  }
  *params = DefaultOptimizer(*type);

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

  const std::vector<std::string> arguments = ArgumentsOf(*type);
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
      const std::string hint = NearestNameHint(argument, candidates, OtherOptimizerArguments());
      problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + argument + "\"",
                      "", hint.empty() ? "Its arguments are " + Join(arguments) + "." : hint);
    } else if (argument == "learning_rate" || argument == "lr") {
      if (has_learning_rate) {
        problems->Error(ErrorCode::kInvalidParameter, owner + " is given two learning rates");
      } else if (IsSchedule(v)) {
        ReadSchedule(v, "learning rate", &params->learning_rate, &params->schedule, problems);
      } else if (const auto rate = ReadNumber(v, kPositive, "learning rate", problems)) {
        params->learning_rate = *rate;
      }
      has_learning_rate = true;
    } else if (argument == "weight_decay" && IsSchedule(v)) {
      ReadSchedule(v, "weight decay", &params->weight_decay, &params->weight_decay_schedule,
                   problems);
    } else if (argument == "learning_rate_schedule" || argument == "weight_decay_schedule") {
      if (v.IsNone()) continue;
      const bool rate = argument == "learning_rate_schedule";
      ScheduleParams& schedule = rate ? params->schedule : params->weight_decay_schedule;
      if (schedule.kind != ScheduleKind::kConstant) {
        problems->Error(
            ErrorCode::kInvalidParameter,
            owner + " is given two schedules of its " + (rate ? "learning rate" : "weight decay"));
      } else {
        ReadSchedule(v, rate ? "learning rate" : "weight decay", nullptr, &schedule, problems);
      }
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
