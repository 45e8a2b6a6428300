#include "search/keep_best.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "params/callable.h"
#include "params/text.h"
#include "params/value.h"
#include "search/space.h"

namespace hopper {
namespace {

constexpr const char* kMonitor = "monitor";
constexpr const char* kRestore = "restore_best";
constexpr const char* kKerasRestore = "restore_best_weights";

// None means the default, as if it were not given.
const Value* Given(const std::vector<ValueEntry>& entries, const std::string& key) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const ValueEntry& entry) {
    return entry.key.IsText() && entry.key.text == key && !entry.value.IsNone();
  });
  return found == entries.end() ? nullptr : &found->value;
}

void Set(const std::string& key, Value value, std::vector<ValueEntry>* entries) {
  const auto known = std::find_if(entries->begin(), entries->end(), [&](const ValueEntry& entry) {
    return entry.key.IsText() && entry.key.text == key;
  });
  if (known == entries->end()) {
    entries->push_back({Value::String(key), std::move(value)});
  } else {
    known->value = std::move(value);
  }
}

bool IsTrue(const Value* value) {
  return value != nullptr && value->kind == Value::Kind::kBool && value->boolean;
}

// What one set of arguments of early stopping lacks.
void AddToStopping(bool has_patience, const char* restore, const std::string& monitor,
                   std::vector<ValueEntry>* arguments) {
  const Value* said = Given(*arguments, kRestore);
  if (said == nullptr) said = Given(*arguments, kKerasRestore);
  const bool restores = said == nullptr || IsTrue(said);
  if (said == nullptr) Set(restore, Value::Bool(true), arguments);
  if ((restores || has_patience) && Given(*arguments, kMonitor) == nullptr) {
    Set(kMonitor, Value::String(monitor), arguments);
  }
}

// A callback with these arguments, as a call; JSON has it as a text.
Value WithArguments(const Callable& callable, std::vector<ValueEntry> arguments) {
  Value call;
  call.kind = Value::Kind::kCall;
  call.text = callable.name;
  call.items = callable.positional;
  call.entries = std::move(arguments);
  return call;
}

// Whether EarlyStopping is among the callbacks.
bool AddToCallbacks(const std::string& monitor, Value* callbacks) {
  if (callbacks->kind == Value::Kind::kString && callbacks->text.substr(0, 1) == "[") {
    *callbacks = ParsePythonValue(callbacks->text, "callbacks");
  }
  if (!callbacks->IsSequence()) {
    Value list;
    list.kind = Value::Kind::kList;
    list.items.push_back(std::move(*callbacks));
    *callbacks = std::move(list);
  }
  bool stops = false;
  for (Value& item : callbacks->items) {
    std::vector<ParamProblem> ignored;
    ProblemList problems(&ignored);
    const auto callable = ReadCallable(item, "callback", &problems);
    if (!callable) continue;
    std::vector<ValueEntry> arguments = callable->named;
    if (callable->name == "EarlyStopping") {
      stops = true;
      AddToStopping(/*has_patience=*/true, kKerasRestore, monitor, &arguments);
    } else if (callable->name == "ReduceLROnPlateau" && Given(arguments, kMonitor) == nullptr) {
      Set(kMonitor, Value::String(monitor), &arguments);
    } else {
      continue;
    }
    item = WithArguments(*callable, std::move(arguments));
  }
  return stops;
}

void Add(const std::string& monitor, std::vector<ValueEntry>* entries) {
  for (ValueEntry& entry : *entries) {
    const bool callbacks = entry.key.text == "callbacks" && !entry.value.IsNone();
    if (callbacks && AddToCallbacks(monitor, &entry.value)) return;
  }
  // What early stopping watches, the learning rate follows.
  const bool watches =
      Given(*entries, "patience") != nullptr || Given(*entries, "reduce_lr_on_plateau") != nullptr;
  AddToStopping(watches, kRestore, monitor, entries);
}

}  // namespace

std::string KeepBest(const std::string& fit_params, const std::string& monitor) {
  try {
    Value arguments;
    arguments.kind = Value::Kind::kDict;
    arguments.entries = ParseArguments(fit_params, "fit_params");
    Add(monitor, &arguments.entries);
    const size_t begin = fit_params.find_first_not_of(" \t\r\n");
    const bool object = begin != std::string::npos && fit_params[begin] == '{';
    return object ? RenderJson(arguments) : RenderArguments(arguments.entries);
  } catch (const Error&) {
    return fit_params;  // what is wrong with it is said where configurations are checked
  }
}

}  // namespace hopper
