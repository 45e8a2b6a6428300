#include "params/arguments.h"

#include <algorithm>
#include <limits>
#include <set>

namespace hopper {
namespace {

// True where a value is what Keras has without the argument.
bool IsNeutral(const std::string& name, const Value& value) {
  if (name == "name" || name == "dtype" || name == "fn") return true;
  if (value.IsNone()) return true;
  const bool is_false = value.kind == Value::Kind::kBool && !value.boolean;
  if (name == "from_logits" || name == "multi_label") return is_false;
  if (name == "label_smoothing") return value.IsNumber() && value.real == 0;
  if (name == "axis") return value.kind == Value::Kind::kInteger && value.integer == -1;
  if (name == "reduction") {
    return value.IsText() &&
           (value.text == "sum_over_batch_size" || value.text == "mean" || value.text == "auto");
  }
  return false;
}

// Arguments of Keras' losses and metrics that some of ours lack.
bool IsKnown(const std::string& name) {
  static const std::set<std::string> known = {"from_logits",  "label_smoothing", "axis",
                                              "ignore_class", "reduction",       "thresholds",
                                              "multi_label",  "label_weights",   "num_labels"};
  return known.count(name) > 0;
}

}  // namespace

void ArgumentList::AddInteger(const std::string& name, int low, int* out) {
  Add(name, [low, out](const Value& value, const std::string& label, ProblemList* problems) {
    const auto n = ReadInteger(value, low, std::numeric_limits<int>::max(), label, problems);
    if (n) *out = static_cast<int>(*n);
  });
}

void ArgumentList::AddInteger(const std::string& name, int low, std::optional<int>* out) {
  Add(name, [low, out](const Value& value, const std::string& label, ProblemList* problems) {
    const auto n = ReadInteger(value, low, std::numeric_limits<int>::max(), label, problems);
    if (n) *out = static_cast<int>(*n);
  });
}

void ArgumentList::AddNumber(const std::string& name, const Range& range, double* out,
                             bool required) {
  Add(
      name,
      [&range, out](const Value& value, const std::string& label, ProblemList* problems) {
        if (const auto x = ReadNumber(value, range, label, problems)) *out = *x;
      },
      required);
}

void ArgumentList::AddThreshold(const std::string& name, std::optional<double>* out) {
  Add(name, [out](const Value& value, const std::string& label, ProblemList* problems) {
    const bool list = value.IsSequence() && value.items.size() == 1;
    if (const auto x = ReadNumber(list ? value.items[0] : value, kUnit, label, problems)) *out = *x;
  });
}

void ArgumentList::AddBool(const std::string& name, bool* out) {
  Add(name, [out](const Value& value, const std::string& label, ProblemList* problems) {
    if (const auto b = ReadBool(value, label, problems)) *out = *b;
  });
}

void ArgumentList::AddIntegers(const std::string& name, int low, int high, std::vector<int>* out,
                               bool required) {
  Add(
      name,
      [low, high, out](const Value& value, const std::string& label, ProblemList* problems) {
        if (value.IsSequence() && value.items.empty()) {
          problems->Error(ErrorCode::kInvalidParameter, label + " must not be empty");
          return;
        }
        std::vector<int> found;
        const auto read = [&](const Value& item) {
          const auto n = ReadInteger(item, low, high, label, problems);
          if (n) found.push_back(static_cast<int>(*n));
        };
        if (value.IsSequence()) {
          for (const Value& item : value.items) read(item);
        } else {
          read(value);
        }
        *out = found;
      },
      required);
}

const ArgumentList::Argument* ArgumentList::Find(const std::string& name) const {
  const auto at = std::find_if(arguments_.begin(), arguments_.end(),
                               [&](const Argument& argument) { return argument.name == name; });
  return at == arguments_.end() ? nullptr : &*at;
}

std::vector<std::string> ArgumentList::names() const {
  std::vector<std::string> names;
  for (const Argument& argument : arguments_) names.push_back(argument.name);
  return names;
}

std::string ArgumentList::NamesHint() const {
  if (arguments_.empty()) return "";
  return (arguments_.size() == 1 ? "Its argument is " : "Its arguments are ") + Join(names()) + ".";
}

void ArgumentList::Read(const Callable& callable, const std::string& owner,
                        ProblemList* problems) const {
  std::set<std::string> given;
  const auto read = [&](const Argument& argument, const Value& value) {
    if (!given.insert(argument.name).second) {
      problems->Error(ErrorCode::kInvalidParameter,
                      owner + " is given \"" + argument.name + "\" two times");
    } else if (!value.IsNone() || argument.required) {  // None is the default, as in Keras
      argument.read(value, argument.name + " of " + owner, problems);
    }
  };
  if (callable.positional.size() > arguments_.size()) {
    const std::string number = std::to_string(callable.positional.size());
    problems->Error(ErrorCode::kInvalidParameter,
                    arguments_.empty() ? owner + " takes no arguments"
                                       : owner + " has " + number + " arguments without a name",
                    "", NamesHint());
    return;
  }
  for (size_t i = 0; i < callable.positional.size(); ++i) {
    read(arguments_[i], callable.positional[i]);
  }
  for (const ValueEntry& entry : callable.named) {
    const std::string name = entry.key.IsText() ? entry.key.text : Render(entry.key);
    if (const Argument* argument = Find(name)) {
      read(*argument, entry.value);
    } else if (IsNeutral(name, entry.value)) {
      continue;
    } else if (IsKnown(name)) {
      problems->Error(ErrorCode::kNotSupported,
                      "argument \"" + name + "\" of " + owner + " is not supported",
                      "It is set to " + Render(entry.value) + ".");
    } else {
      problems->Error(ErrorCode::kInvalidParameter, owner + " has no argument \"" + name + "\"", "",
                      NamesHint());
    }
  }
  for (const Argument& argument : arguments_) {
    if (argument.required && given.count(argument.name) == 0) {
      problems->Error(ErrorCode::kInvalidParameter,
                      owner + " needs the argument \"" + argument.name + "\"");
    }
  }
}

}  // namespace hopper
