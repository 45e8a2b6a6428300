// How texts name optimizers, losses and metrics: 'adam', Adam, Adam(lr=0.1), 'Adam(lr=0.1)' and
// {"class_name": "Adam", "config": {...}} all become a name with arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/range.h"
#include "params/params.h"
#include "params/value.h"

namespace hopper {

// Collects what is wrong with one text.
class ProblemList {
 public:
  explicit ProblemList(std::vector<ParamProblem>* problems) : problems_(problems) {}
  void Error(ErrorCode code, std::string message, std::string detail = "", std::string hint = "");
  void Warning(std::string message, std::string detail = "", std::string hint = "");
  void Add(const Problem& problem);

 private:
  std::vector<ParamProblem>* problems_;
};

// Reads a number within a range; on failure appends a problem that begins with `label` and
// returns nothing.
std::optional<double> ReadNumber(const Value& value, const Range& range, const std::string& label,
                                 ProblemList* problems);
std::optional<bool> ReadBool(const Value& value, const std::string& label, ProblemList* problems);
// A whole number in [low, high]; 32.0 is 32.
std::optional<int64_t> ReadInteger(const Value& value, int64_t low, int64_t high,
                                   const std::string& label, ProblemList* problems);

struct Callable {
  std::string name;  // without module prefix: "keras.optimizers.Adam" is "Adam"
  std::string text;  // as the user wrote it, for results
  std::vector<Value> positional;
  std::vector<ValueEntry> named;
};

// Nothing (and a problem) where `value` cannot name a `role` ("optimizer", "loss", "metric").
std::optional<Callable> ReadCallable(const Value& value, const std::string& role,
                                     ProblemList* problems);

// "MeanSquaredError" -> "mean_squared_error", "KLDivergence" -> "kl_divergence", "MSE" -> "mse":
// Keras' rule.
std::string SnakeCase(const std::string& name);

std::string Join(const std::vector<std::string>& names);

}  // namespace hopper
