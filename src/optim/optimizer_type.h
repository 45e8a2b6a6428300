// What an optimizer is. Each has a file of its own in this folder, with a struct that holds
//
//   kName         Keras' name
//   Arguments()   those of its own under Keras' names, with ranges and Keras' defaults
//   Scalars, At() the numbers of one step that are the same for all weights
//   Kernels       the forms of its arithmetic (optim/kernel.h)
//   Choose()      which of them a configuration wants
//
// and a row in optim/table.h. Formulas: keras.optimizers.*.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/range.h"
#include "optim/configuration.h"
#include "optim/kernel.h"

namespace hopper {

// What most optimizers have.
struct Optimizer {
  static constexpr double kLearningRate = 0.001;
  static constexpr double kWeightDecay = 0.0;
  // The first slot's values before the first step.
  static float FirstSlot(const OptimizerParams& /*optimizer*/) { return 0.0F; }
  static int Choose(const OptimizerParams& /*optimizer*/) { return 0; }
};

struct OptimizerArgument {
  const char* name;
  const Range* range;  // null: a flag
  double value = 0.0;  // the default
};
using OptimizerArguments = std::vector<OptimizerArgument>;

inline OptimizerArgument Number(const char* name, const Range& range, double value) {
  return {name, &range, value};
}
inline OptimizerArgument Flag(const char* name) { return {name, nullptr, 0.0}; }

// A row of the table.
struct OptimizerType {
  const char* name;
  OptimizerArguments arguments;
  double learning_rate;
  double weight_decay;
  int first_kernel;  // of its own, among those of all optimizers
  int (*choose)(const OptimizerParams& optimizer);
  float (*first_slot)(const OptimizerParams& optimizer);
  StepScalars (*scalars)(const OptimizerParams& optimizer, int64_t step, float rate);
};

const std::vector<OptimizerType>& OptimizerTypes();
// By a name in any case; null where there is none.
const OptimizerType* FindOptimizer(const std::string& name);
// Its place in the table, also where it is the row of another library's table.
int PlaceOf(const OptimizerType& type);

}  // namespace hopper
