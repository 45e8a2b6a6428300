// What a configuration says of its optimizer: typed, and with Keras' defaults.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hopper {

struct OptimizerType;

enum class ScheduleKind {
  kConstant,
  kExponentialDecay,
  kCosineDecay,
  kPiecewiseConstantDecay,
  kInverseTimeDecay,
  kPolynomialDecay,
  kCosineLog,
  kFlatCosine,
};

// keras.optimizers.schedules.*, under Keras' names, and two of RealMLP's; the initial value is
// beside it (learning_rate, weight_decay). Steps are batches, counted over the whole training.
struct ScheduleParams {
  ScheduleKind kind = ScheduleKind::kConstant;
  double decay_steps = 1.0;
  // Above 0: `decay_steps` are those of so many iterations, which the data and the batches' size
  // say; CountSteps() sets them.
  double decay_iterations = 0.0;
  double decay_rate = 0.0;              // exponential, inverse time
  bool staircase = false;               // exponential, inverse time
  double alpha = 0.0;                   // cosine: the last rate as a share of the first
  std::optional<double> warmup_target;  // cosine
  double warmup_steps = 0.0;            // cosine
  double end_learning_rate = 1e-4;      // polynomial
  double power = 1.0;                   // polynomial
  bool cycle = false;                   // polynomial
  double cycles = 4.0;                  // cosine of the logarithm
  double flat = 0.5;                    // flat cosine: share of the steps before it falls
  std::vector<double> boundaries;       // piecewise: values[i] up to and with boundaries[i]
  std::vector<double> values;           // piecewise: one more than boundaries
};
// The most arguments that an optimizer has of its own, beside those that all have.
constexpr int kOwnArguments = 8;

// Arguments under Keras' names (keras.optimizers.*). Made by DefaultOptimizer().
struct OptimizerParams {
  OptimizerParams();  // RMSprop

  // A row of the table of optimizers, and its own arguments in its order; flags are 0 and 1.
  const OptimizerType* type;
  std::array<double, kOwnArguments> own = {};
  // One of them by its name. Throws kInternal where the optimizer has none such.
  double& Own(const std::string& name);
  double Own(const std::string& name) const { return OptimizerParams(*this).Own(name); }

  double learning_rate = 0.001;
  ScheduleParams schedule;
  // Keras 2's time decay: learning_rate / (1 + decay * steps taken before).
  double decay = 0.0;
  // Decoupled: every step first takes weight_decay * learning rate of each weight away.
  double weight_decay = 0.0;
  ScheduleParams weight_decay_schedule;
  std::optional<double> clipnorm;         // each gradient tensor on its own
  std::optional<double> global_clipnorm;  // all gradients together
  std::optional<double> clipvalue;
  // A moving average of the weights, which is what evaluation and the result use.
  bool use_ema = false;
  double ema_momentum = 0.99;
  int64_t ema_overwrite_frequency = 0;  // steps between overwriting the weights; 0: never

 private:
  struct Bare {};
  explicit OptimizerParams(Bare) : type(nullptr) {}
  friend OptimizerParams DefaultOptimizer(const OptimizerType& type);
};

// An optimizer with Keras' defaults.
OptimizerParams DefaultOptimizer(const OptimizerType& type);
// The default optimizer of a name, in any case; throws kInternal for other names.
OptimizerParams DefaultOptimizer(const std::string& name);

}  // namespace hopper
