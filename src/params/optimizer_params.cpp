#include "params/optimizer_params.h"

#include <algorithm>

namespace hopper {
namespace {

const std::vector<std::string> kSupported = {"SGD", "RMSprop", "Adam"};
// Keras has them, this version does not.
const std::vector<std::string> kLacking = {
    "Adagrad",   "Adadelta",          "Adamax", "Nadam", "Ftrl", "AdamW", "Lion", "Lamb", "Muon",
    "Adafactor", "LossScaleOptimizer"};

const std::vector<std::string> kCommonArguments = {"learning_rate", "lr", "decay", "clipnorm",
                                                   "clipvalue"};

std::vector<std::string> ArgumentsOf(OptimizerKind kind) {
  std::vector<std::string> names;
  switch (kind) {
    case OptimizerKind::kSgd:
      names = {"momentum", "nesterov"};
      break;
    case OptimizerKind::kRmsprop:
      names = {"rho", "momentum", "epsilon", "centered"};
      break;
    case OptimizerKind::kAdam:
      names = {"beta_1", "beta_2", "epsilon", "amsgrad"};
      break;
  }
  names.insert(names.begin(), kCommonArguments.begin(), kCommonArguments.end());
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

// What Keras writes into an optimizer's config besides hyper-parameters: arguments that change
// nothing at their default. True where `name` is one; a value that would change something is a
// problem.
bool ReadNeutral(const std::string& name, const Value& value, const std::string& owner,
                 ProblemList* problems) {
  static const std::vector<std::string> kWithoutEffect = {
      "name", "ema_momentum", "ema_overwrite_frequency", "is_legacy_optimizer", "jit_compile"};
  static const std::vector<std::string> kOffByDefault = {"weight_decay", "global_clipnorm",
                                                         "use_ema", "loss_scale_factor",
                                                         "gradient_accumulation_steps"};
  const auto holds = [&name](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (holds(kWithoutEffect)) return true;
  if (!holds(kOffByDefault)) return false;
  const bool off = value.IsNone() || (value.kind == Value::Kind::kBool && !value.boolean) ||
                   (name == "weight_decay" && value.IsNumber() && value.real == 0);
  if (!off) {
    problems->Error(ErrorCode::kNotSupported,
                    "argument \"" + name + "\" of " + owner + " is not supported");
  }
  return true;
}

}  // namespace

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
  params->kind = static_cast<OptimizerKind>(known - kSupported.begin());
  params->learning_rate = params->kind == OptimizerKind::kSgd ? 0.01 : 0.001;

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
    const auto number = [&](const Range& range, const std::string& label, double* out) {
      if (const auto x = ReadNumber(v, range, label, problems)) *out = *x;
    };
    const auto flag = [&](bool* out) {
      if (const auto b = ReadBool(v, argument, problems)) *out = *b;
    };
    if (std::find(arguments.begin(), arguments.end(), argument) == arguments.end()) {
      if (ReadNeutral(argument, v, owner, problems)) continue;
      const std::string hint = NearestNameHint(argument, arguments);
      problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + argument + "\"",
                      "", hint.empty() ? "Its arguments are " + Join(arguments) + "." : hint);
    } else if (argument == "learning_rate" || argument == "lr") {
      if (has_learning_rate) {
        problems->Error(ErrorCode::kInvalidParameter, owner + " is given two learning rates");
      } else if (v.kind == Value::Kind::kDict || v.kind == Value::Kind::kCall) {
        problems->Error(ErrorCode::kNotSupported, "learning rate schedules are not supported", "",
                        "Give a number; decay makes it shrink with every step.");
      } else {
        number(kPositive, "learning rate", &params->learning_rate);
      }
      has_learning_rate = true;
    } else if (v.IsNone()) {
      // As in Keras: None is the default.
    } else if (argument == "momentum") {
      number(kUnit, argument, &params->momentum);
    } else if (argument == "nesterov") {
      flag(&params->nesterov);
    } else if (argument == "rho") {
      number(kUnitHalfOpen, argument, &params->rho);
    } else if (argument == "centered") {
      flag(&params->centered);
    } else if (argument == "beta_1") {
      number(kUnitHalfOpen, argument, &params->beta_1);
    } else if (argument == "beta_2") {
      number(kUnitHalfOpen, argument, &params->beta_2);
    } else if (argument == "epsilon") {
      number(kNotNegative, argument, &params->epsilon);
    } else if (argument == "amsgrad") {
      flag(&params->amsgrad);
    } else if (argument == "decay") {
      number(kNotNegative, argument, &params->decay);
    } else {
      if (const auto limit = ReadNumber(v, kPositive, argument, problems)) {
        (argument == "clipnorm" ? params->clipnorm : params->clipvalue) = limit;
      }
    }
  }
  if (params->clipnorm && params->clipvalue) {
    problems->Error(ErrorCode::kInvalidParameter, owner + " has both clipnorm and clipvalue",
                    "Keras allows one of them.", "Leave one of them out.");
  }
}

}  // namespace hopper
