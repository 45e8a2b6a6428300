// The space that the dictionaries of generate_model_configs span: what may be chosen, and how a
// choice is written down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "params/value.h"

namespace hopper {

enum class Scale { kLinear, kLog, kLogNearOne };
// What users call them, in that order.
const std::vector<std::string>& ScaleNames();

// [low, high, 'log']: numbers to draw from; integers where both bounds are.
struct Distribution {
  Scale scale = Scale::kLinear;
  double low = 0;
  double high = 0;
  bool integers = false;
};

// One key and its alternatives.
struct GridParameter {
  std::string name;
  std::vector<Value> choices;  // not empty, unless there is a distribution
  std::optional<Distribution> distribution;
};

// One dictionary of 'optimizer_params_list', or the list under 'optimizer'.
struct OptimizerChoice {
  // The texts of whole optimizers, or their names where `arguments` are given beside them.
  GridParameter optimizer;
  std::vector<GridParameter> arguments;
  bool whole = false;  // `optimizer` holds whole texts
};

struct GridSpace {
  std::vector<OptimizerChoice> optimizers;  // one of them is chosen
  std::vector<GridParameter> compile;       // all keys but the optimizer's: metrics, loss, others
  std::vector<GridParameter> fit;
  Problem notice;  // how the list of metrics was understood, where it could be otherwise
};

// Throws Error where the texts do not parse or a list has the wrong form. Distributions are
// refused where `random` is false.
GridSpace ParseGridSpace(const std::string& compile_grid, const std::string& fit_grid, bool random);
// Appends all problems instead of throwing; the space is of use only where there are none.
GridSpace ParseGridSpace(const std::string& compile_grid, const std::string& fit_grid, bool random,
                         std::vector<Problem>* problems);

// How many values a parameter can take; 0: infinitely many.
uint64_t CountValues(const GridParameter& parameter);
// The i-th of CountValues().
Value ValueAt(const GridParameter& parameter, uint64_t i);
// The value of a draw u in (0, 1).
Value DrawValue(const GridParameter& parameter, double u);

// MADlib-like texts of one choice; `values` in the order of the parameters.
std::string RenderOptimizer(const OptimizerChoice& choice, const Value& optimizer,
                            const std::vector<Value>& arguments);
std::string RenderCompile(const GridSpace& space, const std::string& optimizer,
                          const std::vector<Value>& values);
std::string RenderFit(const GridSpace& space, const std::vector<Value>& values);

}  // namespace hopper
