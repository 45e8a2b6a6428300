#include "params/grid_space.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "params/optimizer_params.h"
#include "params/text.h"

namespace hopper {
namespace {

[[noreturn]] void Refuse(std::string message, std::string detail = "", std::string hint = "") {
  throw Error(ErrorCode::kInvalidParameter, std::move(message), std::move(detail), std::move(hint));
}

bool NamesScale(const Value& value) {
  const std::vector<std::string>& names = ScaleNames();
  return value.IsText() && std::find(names.begin(), names.end(), value.text) != names.end();
}

// A list of two numbers and a text looks like a distribution whatever the text says.
bool LooksLikeDistribution(const Value& list) {
  const auto& items = list.items;
  if (!items.empty() && NamesScale(items.back())) return true;
  return items.size() == 3 && items[0].IsNumber() && items[1].IsNumber() && items[2].IsText();
}

Distribution ReadDistribution(const std::string& name, const Value& list) {
  const auto& items = list.items;
  const std::string& scale = items.back().text;
  const std::vector<std::string>& names = ScaleNames();
  const auto known = std::find(names.begin(), names.end(), scale);
  if (known == names.end()) {
    const std::string hint = NearestNameHint(scale, names);
    Refuse("distribution \"" + scale + "\" of \"" + name + "\" is not known", "",
           hint.empty() ? "Use linear, log or log_near_one." : hint);
  }
  if (items.size() != 3 || !items[0].IsNumber() || !items[1].IsNumber()) {
    Refuse("distribution of \"" + name + "\" needs two numbers and a name", "",
           "Write [0.0001, 0.1, 'log'], for example.");
  }
  Distribution d;
  d.scale = static_cast<Scale>(known - names.begin());
  d.low = items[0].real;
  d.high = items[1].real;
  d.integers = items[0].kind == Value::Kind::kInteger && items[1].kind == Value::Kind::kInteger &&
               d.scale != Scale::kLogNearOne;
  const std::string low = Render(items[0]), high = Render(items[1]);
  if (d.low > d.high) {
    Refuse("lower bound " + low + " of \"" + name + "\" is above upper bound " + high);
  }
  if (d.low == d.high) {
    Refuse("lower bound " + low + " of \"" + name + "\" equals the upper bound", "",
           "For one value write [" + low + "].");
  }
  if (d.scale == Scale::kLog && d.low <= 0) {
    Refuse("log-scaled parameter \"" + name + "\" needs a lower bound above zero");
  }
  if (d.scale == Scale::kLogNearOne && d.high >= 1) {
    Refuse("parameter \"" + name + "\" with scale log_near_one needs an upper bound below one");
  }
  // Beyond 2^53 the bounds are no longer exact as doubles.
  if (d.integers && (std::fabs(d.low) > 0x1p53 || std::fabs(d.high) > 0x1p53)) {
    Refuse("bounds of \"" + name + "\" are too large");
  }
  return d;
}

GridParameter ReadParameter(const std::string& name, const Value& value, bool random) {
  GridParameter parameter;
  parameter.name = name;
  if (!value.IsSequence()) {
    Refuse("value of \"" + name + "\" must be a list, got " + Render(value), "",
           "Write '" + name + "': [" + Render(value) + "].");
  }
  if (value.items.empty()) Refuse("list of \"" + name + "\" is empty");
  if (LooksLikeDistribution(value)) {
    if (!random) {
      Refuse("\"" + name + "\" has the distribution \"" + value.items.back().text +
                 "\" in a grid search",
             "A grid needs lists of values.", "List the values, or use search_type 'random'.");
    }
    parameter.distribution = ReadDistribution(name, value);
  } else {
    parameter.choices = value.items;
  }
  return parameter;
}

// Reads on: what is wrong with one entry does not hide the others' problems.
template <typename Read>
void Collect(std::vector<Problem>* problems, Read read) {
  try {
    read();
  } catch (const Error& error) {
    problems->push_back(error.problem());
  }
}

// Keys are printed in front of an equals sign.
void RequireKeyName(const std::string& name, const std::string& what) {
  const bool ok = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!ok) Refuse(what + " has the key " + RenderString(name), "Keys are names of arguments.");
}

OptimizerChoice ReadOptimizerDictionary(const Value& dict, bool random,
                                        std::vector<Problem>* problems) {
  if (dict.kind != Value::Kind::kDict) {
    Refuse("\"optimizer_params_list\" must hold dictionaries, got " + Render(dict), "",
           "Write [{'optimizer': ['Adam'], 'lr': [0.01, 0.001]}], for example.");
  }
  if (dict.entries.empty()) Refuse("\"optimizer_params_list\" holds an empty dictionary");
  OptimizerChoice choice;
  choice.optimizer.name = "optimizer";
  choice.optimizer.choices = {Value::String("RMSprop")};
  const auto read = [&](const ValueEntry& entry) {
    if (!entry.key.IsText()) {
      Refuse("\"optimizer_params_list\" has the key " + Render(entry.key),
             "Keys are names of an optimizer's arguments.");
    }
    if (entry.key.text != "optimizer") {
      RequireKeyName(entry.key.text, "optimizer_params_list");
      choice.arguments.push_back(ReadParameter(entry.key.text, entry.value, random));
      return;
    }
    choice.optimizer = ReadParameter("optimizer", entry.value, /*random=*/false);
    for (Value& name : choice.optimizer.choices) {
      if (!name.IsText()) {
        Refuse("\"optimizer\" must hold names of optimizers, got " + Render(name));
      }
      name = Value::String(NormalizeOptimizerName(name.text));
    }
  };
  for (const ValueEntry& entry : dict.entries) {
    Collect(problems, [&] { read(entry); });
  }
  return choice;
}

std::vector<OptimizerChoice> ReadOptimizerList(const Value& list, bool random,
                                               std::vector<Problem>* problems) {
  if (!list.IsSequence() || list.items.empty()) {
    Refuse("\"optimizer_params_list\" must be a list of dictionaries", "",
           "Write [{'optimizer': ['Adam'], 'lr': [0.01, 0.001]}], for example.");
  }
  std::vector<OptimizerChoice> choices;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const size_t before = problems->size();
    Collect(problems,
            [&] { choices.push_back(ReadOptimizerDictionary(list.items[i], random, problems)); });
    if (list.items.size() == 1) break;
    // Which of them: several may have the same names and numbers.
    for (size_t k = before; k < problems->size(); ++k) {
      std::string& message = (*problems)[k].message;
      message = "grid at \"optimizer_params_list[" + std::to_string(i + 1) + "]\": " + message;
    }
  }
  return choices;
}

// 12 significant digits: as many as MADlib writes, and too few for the last bits in which
// mathematical libraries differ.
double Rounded(double x, double low, double high) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.12g", x);
  const double rounded = std::strtod(text, nullptr);
  return std::min(std::max(rounded, low), high);
}

// A metric stands for a list of one; lists, None and texts that are lists stand for themselves.
Value AsMetrics(const Value& value) {
  if (value.IsSequence() || value.IsNone()) return value;
  Value list;
  list.kind = Value::Kind::kList;
  list.items.push_back(value);
  return list;
}

// MADlib's grids hold lists and dictionaries as strings: 'callbacks': ['[TensorBoard()]'].
Value Unquoted(const Value& value) {
  if (value.kind != Value::Kind::kString || value.text.find_first_of("[{") == std::string::npos) {
    return value;
  }
  try {
    Value parsed = ParsePythonValue(value.text, "");
    if (parsed.IsSequence() || parsed.kind == Value::Kind::kDict) return parsed;
  } catch (const Error&) {
  }
  return value;
}

std::string RenderPairs(const std::vector<GridParameter>& parameters,
                        const std::vector<Value>& values) {
  std::vector<ValueEntry> entries;
  for (size_t i = 0; i < parameters.size(); ++i) {
    Value value = Unquoted(values[i]);
    if (parameters[i].name == "metrics") value = AsMetrics(value);
    // A bare loss reads better in the quotes that users write.
    if (value.kind == Value::Kind::kName) value.kind = Value::Kind::kString;
    entries.push_back({Value::String(parameters[i].name), std::move(value)});
  }
  return RenderArguments(entries);
}

// A flat list of metrics is one list, as in Keras; alternatives, as MADlib has them, are lists.
GridParameter ReadMetricsOfGrid(const Value& value, GridSpace* space) {
  GridParameter parameter = ReadParameter("metrics", value, /*random=*/false);
  const bool flat = std::none_of(
      parameter.choices.begin(), parameter.choices.end(),
      [](const Value& choice) { return choice.IsNone() || Unquoted(choice).IsSequence(); });
  std::string names;
  for (const Value& choice : parameter.choices) {
    names += (names.empty() ? "" : ", ") + Render(Unquoted(choice));
  }
  const size_t n = parameter.choices.size();
  if (n > 1 && flat) {
    Value list;
    list.kind = Value::Kind::kList;
    list.items = std::move(parameter.choices);
    parameter.choices = {std::move(list)};
    space->notice = {ErrorCode::kInvalidParameter,
                     "each configuration computes all " + std::to_string(n) + " metrics: " + names,
                     "",
                     "For configurations with one of them each, write a list of lists: "
                     "'metrics': [['accuracy'], ['auc']]."};
  } else if (n > 1) {
    space->notice = {ErrorCode::kInvalidParameter,
                     "the lists of metrics are alternatives, one for each configuration: " + names,
                     "Configurations with different metrics are compared by what they have in "
                     "common.",
                     "For all of them in each configuration, write one list: "
                     "'metrics': ['accuracy', 'auc']."};
  }
  return parameter;
}

int RankOfCompileKey(const std::string& name) {
  return name == "metrics" ? 0 : name == "loss" ? 1 : 2;
}

void ReadCompileGrid(const std::string& text, bool random, GridSpace* space,
                     std::vector<Problem>* problems) {
  const auto collect = [problems](const auto& read) { Collect(problems, read); };
  const Value compile = ParseDictionary(text, "compile_params_grid");
  const auto read_compile = [&](const ValueEntry& entry) {
    const std::string& name = entry.key.text;
    if (name == "optimizer_params_list") {
      space->optimizers = ReadOptimizerList(entry.value, random, problems);
    } else if (name == "optimizer") {
      if (compile.Find("optimizer_params_list") != nullptr) {
        Refuse("compile_params_grid holds \"optimizer\" and \"optimizer_params_list\"", "",
               "Move \"optimizer\" into the dictionaries of \"optimizer_params_list\".");
      }
      OptimizerChoice choice;
      choice.optimizer = ReadParameter("optimizer", entry.value, /*random=*/false);
      choice.whole = true;
      space->optimizers = {std::move(choice)};
    } else {
      RequireKeyName(name, "compile_params_grid");
      if (IsOptimizerArgument(name)) {
        Refuse("compile_params_grid has no argument \"" + name + "\"",
               "It is an argument of optimizers.",
               "Move it into 'optimizer_params_list': [{'optimizer': ['Adam'], '" + name +
                   "': [...]}].");
      }
      space->compile.push_back(name == "metrics" ? ReadMetricsOfGrid(entry.value, space)
                                                 : ReadParameter(name, entry.value, random));
    }
  };
  for (const ValueEntry& entry : compile.entries) {
    collect([&] { read_compile(entry); });
  }
  if (space->optimizers.empty() && compile.Find("optimizer_params_list") == nullptr &&
      compile.Find("optimizer") == nullptr) {
    collect([] {
      Refuse("compile_params_grid names no optimizer", "",
             "Add 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01, 0.001]}].");
    });
  }
  std::stable_sort(space->compile.begin(), space->compile.end(),
                   [](const GridParameter& a, const GridParameter& b) {
                     return RankOfCompileKey(a.name) < RankOfCompileKey(b.name);
                   });
}

}  // namespace

const std::vector<std::string>& ScaleNames() {
  static const std::vector<std::string> names = {"linear", "log", "log_near_one"};
  return names;
}

GridSpace ParseGridSpace(const std::string& compile_grid, const std::string& fit_grid,
                         bool random) {
  std::vector<Problem> problems;
  GridSpace space = ParseGridSpace(compile_grid, fit_grid, random, &problems);
  if (!problems.empty()) throw Error(SummaryOf(problems));
  return space;
}

GridSpace ParseGridSpace(const std::string& compile_grid, const std::string& fit_grid, bool random,
                         std::vector<Problem>* problems) {
  GridSpace space;
  const auto collect = [problems](const auto& read) { Collect(problems, read); };
  collect([&] { ReadCompileGrid(compile_grid, random, &space, problems); });
  collect([&] {
    if (IsBlank(fit_grid)) return;
    const Value fit = ParseDictionary(fit_grid, "fit_params_grid");
    for (const ValueEntry& entry : fit.entries) {
      collect([&] {
        RequireKeyName(entry.key.text, "fit_params_grid");
        space.fit.push_back(ReadParameter(entry.key.text, entry.value, random));
      });
    }
  });
  return space;
}

uint64_t CountValues(const GridParameter& parameter) {
  if (!parameter.distribution) return parameter.choices.size();
  const Distribution& d = *parameter.distribution;
  return d.integers ? static_cast<uint64_t>(d.high - d.low) + 1 : 0;
}

Value ValueAt(const GridParameter& parameter, uint64_t i) {
  if (!parameter.distribution) return parameter.choices[i];
  return Value::Integer(static_cast<int64_t>(parameter.distribution->low) +
                        static_cast<int64_t>(i));
}

Value DrawValue(const GridParameter& parameter, double u) {
  if (!parameter.distribution) {
    const size_t n = parameter.choices.size();
    return parameter.choices[std::min(static_cast<size_t>(u * static_cast<double>(n)), n - 1)];
  }
  const Distribution& d = *parameter.distribution;
  double x = 0;
  switch (d.scale) {
    case Scale::kLinear:
      if (d.integers) {
        const double count = d.high - d.low + 1;
        x = d.low + std::min(std::floor(u * count), count - 1);
      } else {
        x = d.low + u * (d.high - d.low);
      }
      break;
    case Scale::kLog: {
      const double low = std::log10(d.low), high = std::log10(d.high);
      x = std::pow(10.0, low + u * (high - low));
      if (d.integers) x = std::round(x);
      break;
    }
    case Scale::kLogNearOne: {
      const double low = std::log10(1 - d.high), high = std::log10(1 - d.low);
      x = 1 - std::pow(10.0, low + u * (high - low));
      break;
    }
  }
  if (d.integers) {
    return Value::Integer(static_cast<int64_t>(std::min(std::max(x, d.low), d.high)));
  }
  return Value::Real(Rounded(x, d.low, d.high));
}

std::string RenderOptimizer(const OptimizerChoice& choice, const Value& optimizer,
                            const std::vector<Value>& arguments) {
  if (choice.whole) return optimizer.IsText() ? optimizer.text : Render(optimizer);
  std::vector<ValueEntry> entries;
  for (size_t i = 0; i < arguments.size(); ++i) {
    entries.push_back({Value::String(choice.arguments[i].name), arguments[i]});
  }
  return optimizer.text + "(" + RenderArguments(entries) + ")";
}

std::string RenderCompile(const GridSpace& space, const std::string& optimizer,
                          const std::vector<Value>& values) {
  const std::string rest = RenderPairs(space.compile, values);
  return "optimizer=" + RenderString(optimizer) + (rest.empty() ? "" : ",") + rest;
}

std::string RenderFit(const GridSpace& space, const std::vector<Value>& values) {
  return RenderPairs(space.fit, values);
}

}  // namespace hopper
