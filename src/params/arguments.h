// The arguments of losses and metrics: what each takes, where it goes, and what is refused.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/letters.h"
#include "params/callable.h"

namespace hopper {

// What one loss or metric takes, in Keras' order. The destinations outlive the list.
class ArgumentList {
 public:
  // `read` gets the value (never None) and the text that its problems begin with.
  using Reader = std::function<void(const Value& value, const std::string& label, ProblemList*)>;
  struct Argument {
    std::string name;
    Reader read;
    bool required = false;
  };

  void Add(const std::string& name, Reader read, bool required = false) {
    arguments_.push_back({name, std::move(read), required});
  }
  // A whole number from `low` up.
  void AddInteger(const std::string& name, int low, int* out);
  void AddInteger(const std::string& name, int low, std::optional<int>* out);
  void AddNumber(const std::string& name, const Range& range, double* out, bool required = false);
  // Also a list of one number.
  void AddThreshold(const std::string& name, std::optional<double>* out);
  void AddBool(const std::string& name, bool* out);
  // One whole number or a list of at least one, each from `low` to `high`.
  void AddIntegers(const std::string& name, int low, int high, std::vector<int>* out,
                   bool required = false);
  // Read, checked and left out of account: the model and the labels say it.
  void AddUnused(const std::string& name, Reader read) { Add(name, std::move(read)); }
  // One of several texts, in any case.
  template <typename T>
  void AddWord(const std::string& name, std::vector<std::pair<std::string, T>> words, T* out) {
    Add(name, [words = std::move(words), out](const Value& value, const std::string& label,
                                              ProblemList* problems) {
      std::vector<std::string> names;
      for (const auto& [word, meaning] : words) {
        if (value.IsText() && EqualIgnoringCase(value.text, word)) {
          *out = meaning;
          return;
        }
        names.push_back("'" + word + "'");
      }
      problems->Error(ErrorCode::kInvalidParameter,
                      label + " must be one of " + Join(names) + ", got " + Render(value));
    });
  }

  // Reads a call's arguments, by position and by name, and refuses those that are not in the list
  // unless they change nothing. `owner` is 'metric "AUC"'.
  void Read(const Callable& callable, const std::string& owner, ProblemList* problems) const;

  // In Keras' order.
  std::vector<std::string> names() const;

 private:
  const Argument* Find(const std::string& name) const;
  std::string NamesHint() const;
  std::vector<Argument> arguments_;
};

}  // namespace hopper
