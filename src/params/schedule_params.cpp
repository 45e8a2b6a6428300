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
      // Of our own: the two of RealMLP.
      {"CosineLogDecay",
       ScheduleKind::kCosineLog,
       {{"initial_learning_rate", true}, {"decay_steps"}, {"decay_iterations"}, {"cycles"}}},
      {"FlatCosineDecay",
       ScheduleKind::kFlatCosine,
       {{"initial_learning_rate", true}, {"decay_steps"}, {"decay_iterations"}, {"flat"}}},
  };
  return schedules;
}

constexpr const char* kInitial = "initial_learning_rate";

std::vector<std::string> ArgumentNames(const Schedule& schedule) {
  std::vector<std::string> names;
  for (const Argument& argument : schedule.arguments) {
    if (std::string(argument.name) != "name") names.push_back(argument.name);
  }
  return names;
}

const Schedule* FindSchedule(const std::string& name, const std::string& what,
                             ProblemList* problems) {
  std::vector<std::string> names;
  for (const Schedule& schedule : Schedules()) {
    if (schedule.name == name) return &schedule;
    names.push_back(schedule.name);
  }
  const std::string choice = "Use one of " + Join(names) + ".";
  if (name == "CosineDecayRestarts") {
    problems->Error(ErrorCode::kNotSupported, what + " schedule \"" + name + "\" is not supported",
                    "", choice);
    return nullptr;
  }
  const std::string hint = NearestNameHint(name, names);
  problems->Error(ErrorCode::kInvalidParameter, what + " schedule \"" + name + "\" is not known",
                  "", hint.empty() ? choice : hint);
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
                  double* initial, ScheduleParams* to, ProblemList* problems) {
  ScheduleParams& schedule = *to;
  const std::string label = name + " of " + owner;
  const auto number = [&](const Range& range, double* out) {
    if (const auto x = ReadNumber(value, range, label, problems)) *out = *x;
  };
  const auto flag = [&](bool* out) {
    if (const auto b = ReadBool(value, label, problems)) *out = *b;
  };
  if (name == kInitial) {
    // A warmup may begin at zero.
    number(schedule.kind == ScheduleKind::kCosineDecay ? kNotNegative : kPositive, initial);
  } else if (name == "decay_steps") {
    number(kPositive, &schedule.decay_steps);
  } else if (name == "decay_iterations") {
    number(kPositive, &schedule.decay_iterations);
  } else if (name == "cycles") {
    number(kPositive, &schedule.cycles);
  } else if (name == "flat") {
    number(kUnitHalfOpen, &schedule.flat);
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
void CheckTogether(const std::string& owner, const std::vector<std::string>& seen, double* initial,
                   const ScheduleParams& schedule, ProblemList* problems) {
  const auto given = [&](const char* name) {
    return std::find(seen.begin(), seen.end(), name) != seen.end();
  };
  const bool counts =
      schedule.kind == ScheduleKind::kCosineLog || schedule.kind == ScheduleKind::kFlatCosine;
  if (counts && given("decay_steps") == given("decay_iterations")) {
    problems->Error(ErrorCode::kInvalidParameter,
                    owner + " needs one of decay_steps and decay_iterations", "",
                    "Give the number of iterations that the run has: decay_iterations=10.");
  }
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
    *initial = schedule.values.front();
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

void ReadSchedule(const Value& value, const std::string& what, double* initial,
                  ScheduleParams* params, ProblemList* problems) {
  const auto callable = ReadCallable(value, what + " schedule", problems);
  if (!callable) return;
  const Schedule* schedule = FindSchedule(callable->name, what, problems);
  if (schedule == nullptr) return;
  *params = ScheduleParams();
  params->kind = schedule->kind;
  const std::string owner = what + " schedule \"" + schedule->name + "\"";
  Schedule own = *schedule;
  double elsewhere = 0.0;
  if (initial == nullptr) {
    own.arguments.erase(
        std::remove_if(own.arguments.begin(), own.arguments.end(),
                       [](const Argument& a) { return a.name == std::string(kInitial); }),
        own.arguments.end());
    initial = &elsewhere;
  }
  const std::vector<Argument>& arguments = own.arguments;

  std::vector<ValueEntry> given;
  for (size_t i = 0; i < callable->positional.size(); ++i) {
    if (i >= arguments.size()) {
      problems->Error(ErrorCode::kInvalidParameter,
                      owner + " has " + std::to_string(callable->positional.size()) +
                          " arguments without a name",
                      "", "Its arguments are " + Join(ArgumentNames(own)) + ".");
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
      const std::string hint = NearestNameHint(name, ArgumentNames(own));
      problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + name + "\"", "",
                      hint.empty() ? "Its arguments are " + Join(ArgumentNames(own)) + "." : hint);
    } else if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      problems->Error(ErrorCode::kInvalidParameter, owner + " is given \"" + name + "\" two times");
    } else if (!entry.value.IsNone()) {
      ReadArgument(name, entry.value, owner, initial, params, problems);
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
  if (complete) CheckTogether(owner, seen, initial, *params, problems);
}

}  // namespace hopper
