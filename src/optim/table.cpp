#include "optim/table.h"

#include "base/error.h"
#include "base/letters.h"

namespace hopper {
namespace {

template <typename O>
OptimizerType TypeOf(int* kernels) {
  static_assert(std::is_base_of_v<Optimizer, O>);
  OptimizerType type = {
      O::kName,
      O::Arguments(),
      O::kLearningRate,
      O::kWeightDecay,
      *kernels,
      O::Choose,
      O::FirstSlot,
      [](const OptimizerParams& optimizer, int64_t step, float rate) {
        return StepScalars::From(O::At(optimizer, step, rate));
      },
  };
  *kernels += O::Kernels::kSize;
  if (type.arguments.size() > kOwnArguments) {
    throw Error(ErrorCode::kInternal, std::string(O::kName) + " has too many arguments");
  }
  return type;
}

template <typename... O>
std::vector<OptimizerType> TypesOf(TypeList<O...> /*optimizers*/) {
  int kernels = 0;
  return {TypeOf<O>(&kernels)...};
}

}  // namespace

const std::vector<OptimizerType>& OptimizerTypes() {
  static const std::vector<OptimizerType> types = TypesOf(Optimizers());
  return types;
}

const OptimizerType* FindOptimizer(const std::string& name) {
  for (const OptimizerType& type : OptimizerTypes()) {
    if (EqualIgnoringCase(name, type.name)) return &type;
  }
  return nullptr;
}

int PlaceOf(const OptimizerType& type) {
  return static_cast<int>(FindOptimizer(type.name) - OptimizerTypes().data());
}

OptimizerParams DefaultOptimizer(const OptimizerType& type) {
  OptimizerParams optimizer{OptimizerParams::Bare()};
  optimizer.type = &type;
  optimizer.learning_rate = type.learning_rate;
  optimizer.weight_decay = type.weight_decay;
  for (size_t i = 0; i < type.arguments.size(); ++i) optimizer.own[i] = type.arguments[i].value;
  return optimizer;
}

OptimizerParams DefaultOptimizer(const std::string& name) {
  const OptimizerType* type = FindOptimizer(name);
  if (type == nullptr) throw Error(ErrorCode::kInternal, "no optimizer \"" + name + "\"");
  return DefaultOptimizer(*type);
}

OptimizerParams::OptimizerParams() : OptimizerParams(DefaultOptimizer("RMSprop")) {}

double& OptimizerParams::Own(const std::string& name) {
  for (size_t i = 0; i < type->arguments.size(); ++i) {
    if (name == type->arguments[i].name) return own[i];
  }
  throw Error(ErrorCode::kInternal, std::string(type->name) + " has no argument \"" + name + "\"");
}

}  // namespace hopper
