#include "params/schedule_params.h"

#include <algorithm>

namespace hopper {
namespace {

struct Argument {
  const char* name;
  bool required = false;
};

// In the order of Keras' constructors, which is that of arguments without a name.
struct Schedule {
  const char* name;
  ScheduleKind kind;
  std::vector<Argument> arguments;
};

const std::vector<Schedule>& Schedules() {
  static const std::vector<Schedule> schedules = {
      {"ExponentialDecay",
       ScheduleKind::kExponentialDecay,
       {{"initial_learning_rate", true},
        {"decay_steps", true},
        {"decay_rate", true},
        {"staircase"},
        {"name"}}},
      {"CosineDecay",
       ScheduleKind::kCosineDecay,
       {{"initial_learning_rate", true},
        {"decay_steps", true},
        {"alpha"},
        {"name"},
        {"warmup_target"},
        {"warmup_steps"}}},
      {"PiecewiseConstantDecay",
       ScheduleKind::kPiecewiseConstantDecay,
       {{"boundaries", true}, {"values", true}, {"name"}}},
      {"InverseTimeDecay",
       ScheduleKind::kInverseTimeDecay,
       {{"initial_learning_rate", true},
        {"decay_steps", true},
        {"decay_rate", true},
        {"staircase"},
        {"name"}}},
      {"PolynomialDecay",
       ScheduleKind::kPolynomialDecay,
       {{"initial_learning_rate", true},
        {"decay_steps", true},
        {"end_learning_rate"},
        {"power"},
        {"cycle"},
        {"name"}}},
  };
  return schedules;
}

std::vector<std::string> ArgumentNames(const Schedule& schedule) {
  std::vector<std::string> names;
  for (const Argument& argument : schedule.arguments) {
    if (std::string(argument.name) != "name") names.push_back(argument.name);
  }
  return names;
}

const Schedule* FindSchedule(const std::string& name, ProblemList* problems) {
  std::vector<std::string> names;
  for (const Schedule& schedule : Schedules()) {
    if (schedule.name == name) return &schedule;
    names.push_back(schedule.name);
  }
  const std::string choice = "Use one of " + Join(names) + ".";
  if (name == "CosineDecayRestarts") {
    problems->Error(ErrorCode::kNotSupported,
                    "learning rate schedule \"" + name + "\" is not supported", "", choice);
    return nullptr;
  }
  const std::string hint = NearestNameHint(name, names);
  problems->Error(ErrorCode::kInvalidParameter,
                  "learning rate schedule \"" + name + "\" is not known", "",
                  hint.empty() ? choice : hint);
  return nullptr;
}

void ReadNumbers(const Value& value, const std::string& label, std::vector<double>* numbers,
                 ProblemList* problems) {
  if (!value.IsSequence() || value.items.empty()) {
    problems->Error(ErrorCode::kInvalidParameter,
                    label + " must be a list of numbers, got " + Render(value));
    return;
  }
  for (const Value& item : value.items) {
    if (const auto x = ReadNumber(item, kNotNegative, label, problems)) numbers->push_back(*x);
  }
}

void ReadArgument(const std::string& name, const Value& value, const std::string& owner,
                  OptimizerParams* params, ProblemList* problems) {
  ScheduleParams& schedule = params->schedule;
  const std::string label = name + " of " + owner;
  const auto number = [&](const Range& range, double* out) {
    if (const auto x = ReadNumber(value, range, label, problems)) *out = *x;
  };
  const auto flag = [&](bool* out) {
    if (const auto b = ReadBool(value, label, problems)) *out = *b;
  };
  if (name == "initial_learning_rate") {
    // A warmup may begin at zero.
    number(schedule.kind == ScheduleKind::kCosineDecay ? kNotNegative : kPositive,
           &params->learning_rate);
  } else if (name == "decay_steps") {
    number(kPositive, &schedule.decay_steps);
  } else if (name == "decay_rate") {
    number(kNotNegative, &schedule.decay_rate);
  } else if (name == "staircase") {
    flag(&schedule.staircase);
  } else if (name == "alpha") {
    number(kNotNegative, &schedule.alpha);
  } else if (name == "warmup_target") {
    schedule.warmup_target = ReadNumber(value, kPositive, label, problems);
  } else if (name == "warmup_steps") {
    number(kNotNegative, &schedule.warmup_steps);
  } else if (name == "end_learning_rate") {
    number(kNotNegative, &schedule.end_learning_rate);
  } else if (name == "power") {
    number(kPositive, &schedule.power);
  } else if (name == "cycle") {
    flag(&schedule.cycle);
  } else if (name == "boundaries") {
    ReadNumbers(value, label, &schedule.boundaries, problems);
  } else if (name == "values") {
    ReadNumbers(value, label, &schedule.values, problems);
  }
}

// What the arguments must be together.
void CheckTogether(const std::string& owner, OptimizerParams* params, ProblemList* problems) {
  const ScheduleParams& schedule = params->schedule;
  if (schedule.kind == ScheduleKind::kCosineDecay && schedule.warmup_steps > 0 &&
      !schedule.warmup_target) {
    problems->Error(ErrorCode::kInvalidParameter,
                    "warmup_steps of " + owner + " needs warmup_target");
  }
  if (schedule.kind != ScheduleKind::kPiecewiseConstantDecay) return;
  if (schedule.values.size() != schedule.boundaries.size() + 1) {
    problems->Error(ErrorCode::kInvalidParameter,
                    owner + " has " + std::to_string(schedule.boundaries.size()) +
                        " boundaries and " + std::to_string(schedule.values.size()) + " values",
                    "There is one value more than boundaries.");
  } else {
    params->learning_rate = schedule.values.front();
  }
  if (!std::is_sorted(schedule.boundaries.begin(), schedule.boundaries.end(),
                      [](double a, double b) { return a <= b; })) {
    problems->Error(ErrorCode::kInvalidParameter, "boundaries of " + owner + " must increase");
  }
}

}  // namespace

bool IsSchedule(const Value& value) {
  return value.kind == Value::Kind::kDict || value.kind == Value::Kind::kCall ||
         (value.kind == Value::Kind::kString && value.text.find('(') != std::string::npos);
}

void ReadSchedule(const Value& value, OptimizerParams* params, ProblemList* problems) {
  const auto callable = ReadCallable(value, "learning rate schedule", problems);
  if (!callable) return;
  const Schedule* schedule = FindSchedule(callable->name, problems);
  if (schedule == nullptr) return;
  params->schedule = ScheduleParams();
  params->schedule.kind = schedule->kind;
  const std::string owner = std::string("learning rate schedule \"") + schedule->name + "\"";
  const std::vector<Argument>& arguments = schedule->arguments;

  std::vector<ValueEntry> given;
  for (size_t i = 0; i < callable->positional.size(); ++i) {
    if (i >= arguments.size()) {
      problems->Error(ErrorCode::kInvalidParameter,
                      owner + " has " + std::to_string(callable->positional.size()) +
                          " arguments without a name",
                      "", "Its arguments are " + Join(ArgumentNames(*schedule)) + ".");
      return;
    }
    given.push_back({Value::String(arguments[i].name), callable->positional[i]});
  }
  given.insert(given.end(), callable->named.begin(), callable->named.end());
  std::vector<std::string> seen;
  for (const ValueEntry& entry : given) {
    const std::string name = entry.key.IsText() ? entry.key.text : Render(entry.key);
    const bool known = std::any_of(arguments.begin(), arguments.end(),
                                   [&name](const Argument& a) { return name == a.name; });
    if (!known) {
      const std::string hint = NearestNameHint(name, ArgumentNames(*schedule));
      problems->Error(
          ErrorCode::kInvalidParameter, owner + " has no argument \"" + name + "\"", "",
          hint.empty() ? "Its arguments are " + Join(ArgumentNames(*schedule)) + "." : hint);
    } else if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      problems->Error(ErrorCode::kInvalidParameter, owner + " is given \"" + name + "\" two times");
    } else if (!entry.value.IsNone()) {
      ReadArgument(name, entry.value, owner, params, problems);
      seen.push_back(name);
    }
  }
  bool complete = true;
  for (const Argument& argument : arguments) {
    if (!argument.required || std::find(seen.begin(), seen.end(), argument.name) != seen.end()) {
      continue;
    }
    complete = false;
    problems->Error(ErrorCode::kInvalidParameter,
                    owner + " needs the argument \"" + argument.name + "\"");
  }
  if (complete) CheckTogether(owner, params, problems);
}

}  // namespace hopper
